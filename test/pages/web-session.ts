/** A person's session by plain HTTP: cookies, and the form token of the page that a form is on. */

export interface Page {
  status: number;
  location: string | null;
  headers: Headers;
  text: string;
}

export type Form = Record<string, string | readonly string[]>;

export class WebSession {
  readonly #cookies = new Map<string, string>();

  constructor(readonly origin: string) {}

  /** Answers the login's status; 303 is in. */
  async signIn(username: string, password: string): Promise<number> {
    return (await this.post('/login', { username, password })).status;
  }

  async get(path: string): Promise<Page> {
    return this.#send(path, {});
  }

  /** @param from the page that the form is on */
  async post(path: string, form: Form, from = path): Promise<Page> {
    const page = await this.get(from);
    const token = /name="csrf_token" value="([^"]+)"/.exec(page.text)?.[1];
    if (token === undefined) throw new Error(`${from} (${page.status}) has no form token`);
    const id = /name="form_id" value="([^"]+)"/.exec(page.text)?.[1];
    return this.send(path, { ...form, csrf_token: token, ...(id !== undefined && { form_id: id }) });
  }

  /** Posts as it is. */
  async send(path: string, form: Form): Promise<Page> {
    const body = new URLSearchParams();
    for (const [name, values] of Object.entries(form)) for (const value of [values].flat()) body.append(name, value);
    return this.#send(path, { method: 'POST', body });
  }

  /** Posts a form that may hold files. */
  sendForm(path: string, body: FormData): Promise<Page> {
    return this.#send(path, { method: 'POST', body });
  }

  async #send(path: string, init: { method?: string; body?: URLSearchParams | FormData }): Promise<Page> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.origin + path, { ...init, redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0\b/i.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    const { status, headers } = response;
    return { status, headers, location: headers.get('location'), text: await response.text() };
  }
}
