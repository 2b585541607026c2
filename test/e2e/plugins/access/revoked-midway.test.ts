/**
 * A token that is revoked while its upload arrives or its question waits (contract 00, amendments),
 * against the real program; another process revokes it.
 */
import { createHash } from 'node:crypto';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { packageOf } from '../../../plugins/releases/fixture.js';
import { TestService } from '../../../support/service.js';
import { withTimeout } from '../../../support/timeout.js';

const HANG_MS = 60_000;

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** A call whose body comes in two halves. */
class SlowCall {
  readonly answer: Promise<Answer>;
  readonly #req: ClientRequest;

  constructor(
    url: string,
    token: string,
    type: string,
    private readonly bytes: Buffer,
  ) {
    this.#req = request(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': type, 'content-length': bytes.length },
    });
    this.answer = new Promise((resolve, reject) => {
      this.#req.on('error', reject).on('response', (res) => void bodyOf(res).then(resolve, reject));
    });
  }

  first(): Promise<void> {
    return new Promise((resolve) => this.#req.write(this.bytes.subarray(0, this.bytes.length / 2), () => resolve()));
  }

  rest(): Promise<Answer> {
    this.#req.end(this.bytes.subarray(this.bytes.length / 2));
    return withTimeout('an answer', HANG_MS, this.answer);
  }
}

async function bodyOf(res: IncomingMessage): Promise<Answer> {
  const parts: Buffer[] = [];
  for await (const part of res) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString('utf8');
  return { status: res.statusCode ?? 0, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
}

describe('a token that is revoked during a request', () => {
  let service: TestService;
  let manager: string;

  before(async () => {
    service = await TestService.createStarted();
    await service.createProject('shop');
    manager = await service.createToken('updateservice:publish,bugtracker:manage,bugtracker:report');
  });
  after(() => service.dispose());

  async function token(scopes: string): Promise<{ id: string; token: string }> {
    const words = ['token', 'create', '--name', 'midway', '--scopes', scopes, '--project', 'shop'];
    const { id, token: secret } = await service.runCommand<{ id: string; token: string }>(words);
    return { id, token: secret };
  }
  const revoke = (id: string): Promise<unknown> => service.runCommand(['token', 'revoke', id]);

  /** Sends half of a body, revokes its token, and sends the rest. */
  async function cutOff(path: string, scopes: string, type: string, bytes: Buffer): Promise<Answer> {
    const { id, token: secret } = await token(scopes);
    const call = new SlowCall(service.url + path, secret, type, bytes);
    await call.first();
    // The credential is checked before the body is read: a second call with it is answered by then.
    await service.request('GET', '/api/bugtracker/v1/bugs?limit=1', secret);
    await revoke(id);
    return call.rest();
  }

  it('cannot publish a package', async () => {
    const path = '/api/updateservice/v1/publish?product=shop&version=1.0.0&channel=stable';
    const bytes = packageOf({ 'app.txt': 'the program' });
    const answer = await cutOff(path, 'updateservice:publish,bugtracker:read', 'application/gzip', bytes);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(401);
    const list = await service.request('GET', '/api/updateservice/v1/releases?product=shop', manager);
    expect(list.body['items']).to.deep.equal([]);
  });

  it('cannot store a source map', async () => {
    const map = JSON.stringify({ version: 3, sources: ['a.ts'], names: [], mappings: 'AAAA' });
    const form = new FormData();
    form.append('name', '~/a.js.map');
    form.append('file', new Blob([map]), 'a.js.map');
    const whole = new Response(form);
    const type = whole.headers.get('content-type') ?? '';
    const path = '/api/0/projects/any/shop/releases/1.0.0/files/';
    const answer = await cutOff(path, 'bugtracker:manage', type, Buffer.from(await whole.arrayBuffer()));
    expect(answer.status).to.equal(401);
  });

  it('cannot store a chunk of a bundle', async () => {
    const piece = Buffer.from('a piece');
    const name = createHash('sha1').update(piece).digest('hex');
    const form = new FormData();
    form.append('file', new Blob([piece]), name);
    const whole = new Response(form);
    const type = whole.headers.get('content-type') ?? '';
    const path = '/api/0/organizations/any/chunk-upload/';
    const answer = await cutOff(path, 'bugtracker:manage', type, Buffer.from(await whole.arrayBuffer()));
    expect(answer.status).to.equal(401);
    const requested = { checksum: name, chunks: [name], projects: ['shop'] };
    const assemble = '/api/0/organizations/any/artifactbundle/assemble/';
    const { body } = await service.request('POST', assemble, manager, requested);
    expect(body['missingChunks']).to.deep.equal([name]);
  });

  it('cannot report an error', async () => {
    const report = { project: 'shop', error_level: 'error', error_message: 'by a token that is gone' };
    const bytes = Buffer.from(JSON.stringify(report));
    const answer = await cutOff(
      '/api/errors/v1/report',
      'bugtracker:report,bugtracker:read',
      'application/json',
      bytes,
    );
    expect(answer.status).to.equal(401);
    const { body } = await service.request('GET', '/api/bugtracker/v1/bugs?q=gone', manager);
    expect(body['items']).to.deep.equal([]);
  });

  it('does not receive an item from a long poll', async () => {
    const { id, token: secret } = await token('bugtracker:manage');
    const path = '/api/bugtracker/v1/bugs?action=next&project=shop&wait_seconds=25';
    const waiting = service.request('POST', path, secret, {});
    // One call of the token is answered while the other waits.
    await service.request('GET', '/api/bugtracker/v1/bugs?limit=1', secret);
    await revoke(id);
    const made = await service.request('POST', '/api/bugtracker/v1/report', manager, {
      project: 'shop',
      title: 'a bug that comes while somebody waits',
    });
    expect(made.status).to.equal(201);
    expect((await withTimeout('an answer', HANG_MS, waiting)).status).to.equal(401);
    const { body } = await service.request('GET', `/api/bugtracker/v1/bugs/${String(made.body['id'])}`, manager);
    expect((body['item'] as { status: string }).status).to.equal('open');
  });
});
