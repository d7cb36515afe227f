/**
 * The script of every page, which adds what a page cannot do without one: search, buttons that copy, one language for all
 * examples, and the current place in the contents. The text is part of the page and of its policy, so it is one constant.
 */
export const pageScript = `
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  document.documentElement.classList.add('js');

  // One language for all examples, remembered.
  const remembered = 'convoke-docs-language';
  const choose = (language) => {
    for (const radio of all('.tabs input')) if (radio.value === language) radio.checked = true;
  };
  try {
    choose(localStorage.getItem(remembered));
  } catch {}
  document.addEventListener('change', ({ target }) => {
    if (!target.matches('.tabs input')) return;
    const before = target.getBoundingClientRect().top;
    choose(target.value);
    scrollBy(0, target.getBoundingClientRect().top - before);
    try {
      localStorage.setItem(remembered, target.value);
    } catch {}
  });

  // Buttons that copy. Without a secure connection there is no clipboard, but a selection can be copied.
  const copy = async (code) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(code.textContent);
    getSelection().selectAllChildren(code);
    if (!document.execCommand('copy')) throw new Error('not copied');
  };
  for (const block of all('.snippet')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      button.textContent = await copy(block.querySelector('code')).then(() => 'Copied', () => 'Press Ctrl+C');
      setTimeout(() => (button.textContent = 'Copy'), 2000);
    });
    block.append(button);
  }

  // Search: a list of links that is filtered by words.
  const dialog = document.querySelector('dialog.search');
  const input = dialog.querySelector('input');
  const none = dialog.querySelector('.none');
  const entries = all('li', dialog).map((item) => ({ item, text: item.textContent.toLowerCase() }));
  const shown = () => all('li:not([hidden]) a', dialog);
  const filter = () => {
    const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
    let left = 50;
    for (const { item, text } of entries) {
      item.hidden = left === 0 || !words.every((word) => text.includes(word));
      if (!item.hidden) left -= 1;
    }
    none.hidden = left < 50;
  };
  const open = () => {
    if (dialog.open) return;
    input.value = '';
    filter();
    dialog.showModal();
    input.focus();
  };
  document.querySelector('.open-search').addEventListener('click', open);
  if (!/Mac|iPhone|iPad/.test(navigator.platform)) document.querySelector('.open-search kbd').textContent = 'Ctrl K';
  input.addEventListener('input', filter);
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog || target.closest('a')) dialog.close();
  });
  dialog.addEventListener('keydown', (event) => {
    const links = shown();
    const at = links.indexOf(document.activeElement);
    if (event.key === 'Enter' && at === -1) links[0]?.click();
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    const next = at + (event.key === 'ArrowDown' ? 1 : -1);
    (next < 0 ? input : links[Math.min(next, links.length - 1)])?.focus();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.matches('input, textarea, select');
    const isShortcut = (event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k';
    if (!isShortcut && !(event.key === '/' && !isTyping)) return;
    event.preventDefault();
    open();
  });

  // The current place in the contents.
  const links = new Map(all('.sidebar a[href^="#"]').map((link) => [link.hash.slice(1), link]));
  const places = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  let current;
  const mark = () => {
    const passed = places.filter((place) => place.getBoundingClientRect().top < 120);
    const link = links.get((passed.at(-1) ?? places[0])?.id);
    if (link === current || !link) return;
    current?.removeAttribute('aria-current');
    link.setAttribute('aria-current', 'true');
    current = link;
    const bar = link.closest('.sidebar');
    if (bar.scrollHeight <= bar.clientHeight || getComputedStyle(bar).position !== 'fixed') return;
    // At the top of the page the search box stays in sight.
    if (scrollY === 0) return void (bar.scrollTop = 0);
    const { top, bottom } = link.getBoundingClientRect();
    if (top < 80 || bottom > innerHeight - 40) bar.scrollTop += top - innerHeight / 3;
  };
  let isAsked = false;
  addEventListener('scroll', () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      mark();
    });
  }, { passive: true });
  mark();
})();
`;
