/** A provider that answers whatever a test wants, signed with its own key or not at all. */
import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ProviderFaults {
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
  signature?: 'right' | 'none' | 'other-key' | 'client-secret';
  discovery?: Record<string, unknown>;
  /** Answers this path with bytes without end, or never. */
  hang?: { path: string; how: 'endless' | 'silent' };
  status?: { path: string; status: number };
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export class HostileOidcProvider {
  faults: ProviderFaults = {};
  nonce = '';
  requests = 0;
  readonly #key = generateKeyPairSync('rsa', { modulusLength: 2048 });
  readonly #other = generateKeyPairSync('rsa', { modulusLength: 2048 });

  private constructor(
    readonly issuer: string,
    private readonly server: Server,
    private readonly clientSecret: string,
  ) {}

  static async start(clientSecret: string): Promise<HostileOidcProvider> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const provider = new HostileOidcProvider(issuer, server, clientSecret);
    server.on('request', (request, response) => provider.#answer(request, response));
    return provider;
  }

  /** @returns the callback's query for an authorization request */
  authorize(url: string, changes: Record<string, string> = {}): URLSearchParams {
    const { searchParams } = new URL(url);
    this.nonce = searchParams.get('nonce') ?? '';
    return new URLSearchParams({ code: 'code-1', state: searchParams.get('state') ?? '', ...changes });
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.requests += 1;
    const { pathname } = new URL(request.url ?? '/', this.issuer);
    const { hang, status } = this.faults;
    if (hang?.path === pathname) {
      if (hang.how === 'endless') this.#stream(response);
      return;
    }
    response.statusCode = status?.path === pathname ? status.status : 200;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(this.#build(pathname)));
  }

  #stream(response: ServerResponse): void {
    response.setHeader('content-type', 'application/json');
    const chunk = `"${'x'.repeat(65_536)}",`;
    const write = (): void => {
      while (!response.destroyed && response.write(chunk)) continue;
    };
    response.on('drain', write);
    response.write('[');
    write();
  }

  #build(pathname: string): object {
    if (pathname === '/jwks')
      return { keys: [{ ...this.#key.publicKey.export({ format: 'jwk' }), kid: '1', use: 'sig' }] };
    if (pathname === '/token')
      return { access_token: 'access', token_type: 'Bearer', expires_in: 60, id_token: this.#signToken() };
    if (pathname !== '/.well-known/openid-configuration') return { error: 'not found' };
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/auth`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      ...this.faults.discovery,
    };
  }

  #signToken(): string {
    const now = Math.floor(Date.now() / 1000);
    const { header, claims, signature = 'right' } = this.faults;
    const head = encode({ alg: 'RS256', kid: '1', ...header });
    const body = encode({
      iss: this.issuer,
      aud: 'aos',
      sub: 'ada',
      nonce: this.nonce,
      iat: now,
      exp: now + 60,
      email: 'ada@example.com',
      groups: ['admins'],
      ...claims,
    });
    const text = `${head}.${body}`;
    if (signature === 'none') return `${text}.`;
    if (signature === 'client-secret')
      return `${text}.${createHmac('sha256', this.clientSecret).update(text).digest('base64url')}`;
    return `${text}.${sign(text, (signature === 'right' ? this.#key : this.#other).privateKey)}`;
  }
}

const sign = (text: string, key: KeyObject): string => createSign('sha256').update(text).sign(key, 'base64url');
