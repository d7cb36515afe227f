/** As much of a browser as signing in needs: cookies by path, redirects, and forms that are filled in and sent. */
export class Browser {
  readonly #cookies = new Map<string, { readonly value: string; readonly path: string }>();
  #page: BrowserPage | undefined;

  get page(): BrowserPage {
    if (this.#page === undefined) throw new Error('no page was opened yet');
    return this.#page;
  }

  /** Follows redirects until a page, or until one leads to an address that `stopAt` begins. */
  async open(url: string, stopAt?: string): Promise<BrowserPage> {
    return this.#request(url, { method: 'GET' }, stopAt);
  }

  /** Fills in the form of the page and sends it, with the button that has this value if there are several. */
  async submit(
    fields: Readonly<Record<string, string>>,
    options: { readonly press?: string; readonly stopAt?: string } = {},
  ): Promise<BrowserPage> {
    const { url, body } = this.page;
    const action = /<form[^>]* action="([^"]*)"/.exec(body)?.[1] ?? fail('the page has no form');
    const form = new URLSearchParams();
    for (const [, name = '', value = ''] of body.matchAll(
      /<input type="hidden" name="([^"]*)" value="([^"]*)"\/?>/g,
    )) {
      form.set(name, unescaped(value));
    }
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    if (options.press !== undefined) form.set(options.press, 'yes');
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
    };
    const init: Sent = { method: 'POST', body: form.toString(), headers };
    return this.#request(new URL(action, url).href, init, options.stopAt);
  }

  cookiesFor(url: string): string {
    const { pathname } = new URL(url);
    return [...this.#cookies]
      .filter(([, { path }]) => pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
  }

  async #request(url: string, init: Sent, stopAt?: string): Promise<BrowserPage> {
    let [at, how] = [url, init];
    for (let hops = 0; hops < 10; hops += 1) {
      const headers = { ...how.headers, cookie: this.cookiesFor(at) };
      const response = await fetch(at, { ...how, headers, redirect: 'manual' });
      this.#keep(response, at);
      const location = response.headers.get('location');
      const { status } = response;
      if (location === null) {
        const body = await response.text();
        this.#page = { url: at, status, headers: response.headers, body };
        return this.#page;
      }
      await response.body?.cancel();
      at = new URL(location, at).href;
      how = { method: 'GET' };
      if (stopAt !== undefined && at.startsWith(stopAt)) {
        this.#page = { url: at, status, headers: response.headers, body: '' };
        return this.#page;
      }
    }
    return fail('too many redirects');
  }

  #keep(response: Response, url: string): void {
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      const attribute = (key: string) =>
        attributes.find((one) => one.toLowerCase().startsWith(`${key}=`))?.split('=')[1];
      const path = attribute('path') ?? new URL(url).pathname;
      const isGone =
        value === '' || new Date(attribute('expires') ?? '2100').getTime() <= Date.now();
      if (isGone) this.#cookies.delete(name);
      else this.#cookies.set(name, { value, path });
    }
  }
}

interface Sent {
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface BrowserPage {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

function fail(message: string): never {
  throw new Error(message);
}

/** What a browser reads where `html` has escaped a text. */
function unescaped(text: string): string {
  const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => characters[name] ?? '');
}
