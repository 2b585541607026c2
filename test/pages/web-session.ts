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

  /** The header of its cookies. */
  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Answers the login's status; 303 is in. */
  async signIn(username: string, password: string): Promise<number> {
    return (await this.post('/login', { username, password })).status;
  }

  async get(path: string): Promise<Page> {
    return this.#send(path, {});
  }

  /** @param from the page that the form is on */
  async post(path: string, form: Form, from = path): Promise<Page> {
    return this.send(path, { ...form, ...(await this.tokenOf(from)) });
  }

  /** What every form of this page sends along. */
  async tokenOf(from: string): Promise<Record<string, string>> {
    const page = await this.get(from);
    const token = /name="csrf_token" value="([^"]+)"/.exec(page.text)?.[1];
    if (token === undefined) throw new Error(`${from} (${page.status}) has no form token`);
    const id = /name="form_id" value="([^"]+)"/.exec(page.text)?.[1];
    return { csrf_token: token, ...(id !== undefined && { form_id: id }) };
  }

  /**
   * What a script is told of a form: the refusal's fields with their faults; null where it was
   * taken.
   */
  async faultsOf(path: string, form: Form | FormData): Promise<Record<string, string> | null> {
    const { status, text } = await this.#send(path, { method: 'POST', body: encoded(form) }, 'application/json');
    if (status < 400) return null;
    const reported = JSON.parse(text) as {
      error?: { fields?: Record<string, string> };
      fields?: Record<string, string>;
    };
    return reported.error?.fields ?? reported.fields ?? {};
  }

  /** Posts as it is. */
  async send(path: string, form: Form): Promise<Page> {
    return this.#send(path, { method: 'POST', body: encoded(form) });
  }

  /** Posts a form that may hold files. */
  sendForm(path: string, form: Form | FormData): Promise<Page> {
    return this.#send(path, { method: 'POST', body: encoded(form) });
  }

  async #send(
    path: string,
    init: { method?: string; body?: URLSearchParams | FormData },
    accept = 'text/html',
  ): Promise<Page> {
    // What is said is looked at here, not how it is packed.
    const headers = { cookie: this.cookie, accept, 'accept-encoding': 'identity' };
    const response = await fetch(this.origin + path, { ...init, redirect: 'manual', headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0\b/i.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    const { status, headers: reported } = response;
    return { status, headers: reported, location: reported.get('location'), text: await response.text() };
  }
}

function encoded(form: Form | FormData): URLSearchParams | FormData {
  if (form instanceof FormData) return form;
  const body = new URLSearchParams();
  for (const [name, values] of Object.entries(form)) for (const value of [values].flat()) body.append(name, value);
  return body;
}
