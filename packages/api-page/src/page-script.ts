import { rank } from './search/rank.ts';
import { wordsOf } from './search/words.ts';

/**
 * The script of every page, which adds everything that needs a script: search, buttons that copy, one language for all
 * examples, and the current place in the contents. The text is part of the page and of its policy, so it is one
 * constant.
 */
export const pageScript: string = packed(`
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

  // Search. The index is loaded when the dialog first opens; its texts are put in as text, never as markup.
  const wordsOf = ${wordsOf.toString()};
  const rank = ${rank.toString()};
  const dialog = document.querySelector('dialog.search');
  const input = dialog.querySelector('input');
  const list = dialog.querySelector('ul');
  const none = dialog.querySelector('.none');
  const { root } = dialog.dataset;
  let index;
  let isLoading = false;
  const say = (text) => {
    none.textContent = text;
    none.hidden = text === '';
  };
  const part = (name, text) => {
    const element = document.createElement('span');
    element.className = name;
    element.textContent = text;
    return element;
  };
  const item = ([kind, title, context, excerpt, href]) => {
    const link = document.createElement('a');
    link.href = root + href;
    link.append(part('kind', kind), part('found', title), part('also', context), part('excerpt', excerpt));
    const element = document.createElement('li');
    element.append(link);
    return element;
  };
  const shown = () => all('li a', dialog);
  const show = () => {
    if (!index) return;
    const words = wordsOf(input.value);
    const found = rank(index, words).map((at) => item(index.entries[at]));
    list.replaceChildren(...found);
    list.scrollTop = 0;
    say(words.length > 0 && found.length === 0 ? 'Nothing found.' : '');
  };
  const load = async () => {
    if (index || isLoading) return;
    isLoading = true;
    say('Loading…');
    try {
      const answer = await fetch(dialog.dataset.index);
      if (!answer.ok) throw new Error(String(answer.status));
      index = await answer.json();
      say('');
      show();
    } catch {
      const isFile = location.protocol === 'file:';
      say(isFile
        ? 'A page on a disk may not read the index of the search. Put the folder on a web server.'
        : 'The search could not be loaded. Close it and open it again.');
    }
    isLoading = false;
  };
  const open = () => {
    if (dialog.open) return;
    input.value = '';
    show();
    dialog.showModal();
    input.focus();
    void load();
  };
  document.querySelector('.open-search').addEventListener('click', open);
  if (!/Mac|iPhone|iPad/.test(navigator.platform)) document.querySelector('.open-search kbd').textContent = 'Ctrl K';
  input.addEventListener('input', show);
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

  // On a phone the contents are closed until they are asked for.
  const openContents = document.querySelector('.open-contents');
  openContents.addEventListener('click', () => {
    const isOpen = openContents.parentElement.classList.toggle('open');
    openContents.setAttribute('aria-expanded', String(isOpen));
  });

  // A table that is wider than the page scrolls, so a keyboard has to reach it.
  const reach = () => {
    for (const region of all('.scroll')) {
      if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
      else region.removeAttribute('tabindex');
    }
  };
  addEventListener('resize', reach);
  reach();

  // An address from the time when everything was on one page leads to where it is now.
  const follow = () => {
    const moved = document.getElementById(location.hash.slice(1))?.querySelector(':scope > a.moved');
    if (moved) location.replace(moved.href);
  };
  addEventListener('hashchange', follow);
  follow();

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
    if (scrollY === 0) {
      bar.scrollTop = 0;
      return;
    }
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
`);

/** Without comments and indentation, and without the blanks that stand where types were: every page contains it. */
function packed(script: string): string {
  return script.replaceAll(/^\s*\/\/ .*$/gm, '').replaceAll(/[ \t]*\n\s*/g, '\n');
}
