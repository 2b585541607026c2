/** Uses the forms of the real service without a browser, with cookies and form tokens. */
import type { TestService } from './service.js';

interface VisitorCredentials {
  username: string;
  password: string;
}

export class BrowserVisitor {
  readonly #cookies = new Map<string, string>();

  constructor(private readonly service: TestService) {}

  async signIn({ username, password }: VisitorCredentials): Promise<number> {
    return (await this.post('/login', { username, password, next: '/account' }, '/login')).status;
  }

  async signInWithCode({ username, password }: VisitorCredentials, code: string): Promise<number> {
    const step = await this.post('/login', { username, password, next: '/account' }, '/login');
    const challenge = /name="challenge" value="([^"]+)"/.exec(await step.text())?.[1];
    if (challenge === undefined) return step.status;
    return (await this.post('/login', { challenge, code, next: '/account' }, '/login')).status;
  }

  async enrollTotp(
    password: string,
    code: (secret: string) => string,
  ): Promise<{ secret: string; recovery: string[] }> {
    await this.post('/account/totp', { totp_password: password }, '/account');
    const secret = /[A-Z2-7]{32}/.exec(await (await this.get('/account/totp')).text())?.[0] ?? '';
    const enabled = await this.post('/account/totp/enable', { code: code(secret) }, '/account/totp');
    if (enabled.status !== 200) throw new Error(`enrolment was answered ${enabled.status}`);
    const listed = (await enabled.text()).matchAll(/<li>([a-km-np-z2-9]{5}-[a-km-np-z2-9]{5})<\/li>/g);
    return { secret, recovery: Array.from(listed, ([, code = '']) => code) };
  }

  async get(path: string): Promise<Response> {
    return this.#send(path, {});
  }

  /**
   * Does not follow redirects.
   * @param page whose form is sent
   */
  async post(path: string, fields: Record<string, string>, page: string): Promise<Response> {
    const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(await (await this.get(page)).text())?.[1] ?? '';
    const body = new URLSearchParams({ ...fields, csrf_token });
    return this.#send(path, { method: 'POST', body, headers: { origin: this.service.url } });
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string> | undefined), cookie };
    const response = await fetch(this.service.url + path, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';', 1)[0] ?? '').split('=', 2);
      this.#cookies.set(name, value);
    }
    return response;
  }
}
