import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { conflict } from '../../../../kernel/errors.js';
import type { RouteSpec, UploadedBody } from '../../../../ports/http/index.js';
import { openFiles, TestServer, type RawConnection } from '../support.js';
import { waitUntil } from '../../../harness.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const LIMIT = 8 * MIB;
const WINDOW_MS = 150;
const B = 'boundary-1';
const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const part = (name: string, value: string | Buffer, more = ''): Buffer =>
  Buffer.concat([
    Buffer.from(`--${B}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`),
    Buffer.from(value),
    Buffer.from('\r\n'),
  ]);
const form = (...parts: Buffer[]): Buffer => Buffer.concat([...parts, Buffer.from(`--${B}--\r\n`)]);
const FORM = `multipart/form-data; boundary=${B}`;

describe('hapi: streamed request bodies', () => {
  let test: TestServer;
  /**
   * The same with a least rate that is soon checked: for what is sent to it in one piece, or is to
   * be refused.
   */
  let hasty: TestServer;
  const thrown: unknown[] = [];
  let taken = 0;
  let goOn: Promise<void> = Promise.resolve();

  const upload = (path: string, more: Partial<RouteSpec> = {}): RouteSpec => ({
    method: 'POST',
    path: `/api/t/v1/${path}`,
    summary: 'test',
    access: { scope: 'a:b' },
    input: {
      stream: {
        mediaTypes: ['application/gzip'],
        multipart: { file: 'package', fields: ['notes', 'meta'], fieldBytes: 64 * KIB },
        bytes: LIMIT,
      },
    },
    handle: async ({ body }) => {
      const uploaded = body as UploadedBody;
      const { mediaType, declaredBytes, content } = uploaded;
      const hash = createHash('sha256');
      let bytes = 0;
      try {
        for await (const piece of content) {
          await goOn;
          hash.update(piece);
          bytes += piece.length;
          taken += piece.length;
        }
        const parts = await uploaded.readFields();
        return { mediaType, declaredBytes, bytes, sha: hash.digest('hex'), fields: parts };
      } catch (error) {
        thrown.push(error);
        throw error;
      }
    },
    ...more,
  });
  before(async () => {
    const routes = [
      upload('package'),
      upload('busy', {
        handle: () => {
          throw conflict('It is being published.');
        },
      }),
      upload('half', {
        handle: async ({ body }) => {
          for await (const piece of (body as UploadedBody).content) return { bytes: piece.length > 0 };
          return {};
        },
      }),
      upload('session', { path: '/api/admin/v1/package', access: { session: 'admin' } }),
    ];
    test = await TestServer.create({ routes });
    hasty = await TestServer.create({ routes }, { uploadRate: { bytes: 1_024, windowMs: WINDOW_MS } });
    await test.start();
    await hasty.start();
  });
  after(async () => {
    await test.stop();
    await hasty.stop();
  });
  beforeEach(() => {
    thrown.length = 0;
    taken = 0;
    goOn = Promise.resolve();
  });

  const send = async (
    body: Buffer | ReadableStream,
    headers: Record<string, string> = {},
    path = 'package',
  ): Promise<{ status: number; body: Record<string, never> & { error: { code: string; fields?: object } } }> => {
    const response = await fetch(`${test.url}/api/t/v1/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer master:a:b', 'content-type': 'application/gzip', ...headers },
      body,
      duplex: 'half',
    });
    return { status: response.status, body: (await response.json()) as never };
  };
  const code = (answer: Awaited<ReturnType<typeof send>>): string => `${answer.status} ${answer.body.error.code}`;
  const raw = async (head: string, body: string | Buffer = '', server = test): Promise<RawConnection> => {
    const client = server.connect();
    const bearer = head.includes('Authorization') ? '' : 'Authorization: Bearer master:a:b\r\n';
    const begin = `POST /api/t/v1/package HTTP/1.1\r\nHost: a\r\n${bearer}${head}\r\n\r\n`;
    // In one piece: however late this client is, the server never waits between the two.
    await client.write(Buffer.concat([Buffer.from(begin), Buffer.from(body)]));
    return client;
  };

  it('streams the body to the handler as it arrives', async () => {
    const bytes = randomBytes(3 * MIB);
    const whole = await send(bytes);
    expect(whole.body).to.deep.include({
      status: 'success',
      mediaType: 'application/gzip',
      declaredBytes: bytes.length,
      bytes: bytes.length,
      sha: sha(bytes),
      fields: {},
    });
    const chunked = await send(new Blob([bytes]).stream());
    expect(chunked.body).to.deep.include({ declaredBytes: null, sha: sha(bytes) });
  });

  it('accepts the parts of a form in any order', async () => {
    const bytes = randomBytes(MIB);
    const file = part('package', bytes, '; filename="a.tar.gz"\r\nContent-Type: application/gzip');
    const notes = part('notes', 'Größer & schöner');
    const meta = part('meta', '{"entry":"a"}');
    for (const body of [form(file, notes, meta), form(notes, meta, file), form(notes, file, meta)]) {
      const answer = await send(body, { 'content-type': FORM });
      expect(answer.body).to.deep.include({
        mediaType: 'multipart/form-data',
        declaredBytes: null,
        sha: sha(bytes),
        fields: { notes: 'Größer & schöner', meta: '{"entry":"a"}' },
      });
    }
    const alone = await send(form(part('package', bytes)), { 'content-type': FORM });
    expect(alone.body).to.deep.include({ sha: sha(bytes), fields: {} });
  });

  it('parses any form content, split into chunks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.array(fc.constantFrom('\r\n', '--', `\r\n--${B}`.slice(0, 8), '\r\n--x'), { maxLength: 4 }),
        fc.integer({ min: 1, max: 60 }),
        async (random, pieces, cut) => {
          const bytes = Buffer.concat([random, ...pieces.map((piece) => Buffer.from(piece)), random]);
          const body = form(part('notes', 'x'), part('package', bytes));
          const stream = new ReadableStream({
            start(controller) {
              for (let at = 0; at < body.length; at += cut) controller.enqueue(body.subarray(at, at + cut));
              controller.close();
            },
          });
          const answer = await send(stream, { 'content-type': FORM });
          expect(answer.body).to.deep.include({ sha: sha(bytes), fields: { notes: 'x' } });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('rejects a body above the limit: by its Content-Length immediately, otherwise at the limit', async () => {
    const declared = await raw(`Content-Type: application/gzip\r\nContent-Length: ${LIMIT + 1}`);
    await declared.until(({ received }) => received.includes('payload_too_large'));
    expect(declared.received).to.match(/^HTTP\/1.1 413 /);
    expect(taken).to.equal(0);
    declared.close();
    expect(code(await send(new Blob([Buffer.alloc(LIMIT + 1)]).stream()))).to.equal('413 payload_too_large');
    expect(taken).to.be.at.most(LIMIT);
    const file = form(part('package', Buffer.alloc(LIMIT + 1)));
    expect(code(await send(new Blob([file]).stream(), { 'content-type': FORM }))).to.equal('413 payload_too_large');
    const atLimit = await send(form(part('package', Buffer.alloc(LIMIT))), { 'content-type': FORM });
    expect(atLimit.status).to.equal(200);
  });

  it('returns 415 for other types and encodings', async () => {
    expect(code(await send(Buffer.from('x'), { 'content-type': 'application/json' }))).to.equal(
      '415 unsupported_media_type',
    );
    expect(code(await send(Buffer.from('x'), { 'content-encoding': 'gzip' }))).to.equal('415 unsupported_media_type');
    expect(code(await send(Buffer.from('x'), { 'content-type': 'multipart/form-data' }))).to.equal(
      '400 invalid_request',
    );
  });

  it('checks credential and rights before it requests the body', async () => {
    for (const [bearer, expected] of [
      ['unknown', '401'],
      ['master:c:d', '403'],
    ]) {
      const client = await raw(
        `Authorization: Bearer ${bearer}\r\nContent-Type: application/gzip\r\nContent-Length: 5\r\nExpect: 100-continue`,
      );
      await client.until(({ closed }) => closed);
      expect(client.received).to.match(new RegExp(`^HTTP/1.1 ${expected} `));
      expect(client.received).not.to.contain('100 Continue');
    }
    const client = await raw('Content-Type: application/gzip\r\nContent-Length: 5\r\nExpect: 100-continue');
    await client.until(({ received }) => received.startsWith('HTTP/1.1 100 Continue'));
    await client.write('12345');
    await client.until(({ received }) => received.includes('"bytes":5'));
    client.close();
  });

  it('responds when the handler does not read the body', async () => {
    expect(code(await send(Buffer.alloc(4 * MIB), {}, 'busy'))).to.equal('409 conflict');
    expect((await send(Buffer.alloc(4 * MIB), {}, 'half')).body).to.deep.include({ bytes: true });
    expect(
      (await send(form(part('package', Buffer.alloc(4 * MIB))), { 'content-type': FORM }, 'half')).body,
    ).to.deep.include({ bytes: true });
  });

  it('accepts an upload of a session only with the form token in the header', async () => {
    const ask = (headers: Record<string, string>): ReturnType<typeof test.ask> =>
      test.ask('POST', '/api/admin/v1/package', {
        payload: 'x',
        headers: { cookie: 'svc_session=session-admin', 'content-type': 'application/gzip', ...headers },
      });
    expect((await ask({})).code).to.equal('csrf_failed');
    const csrf = Buffer.from('csrf(session-admin)').toString('base64url');
    expect((await ask({ 'x-csrf-token': csrf })).status).to.equal(200);
  });

  it('reads no more of the body than the handler does', async () => {
    let release!: () => void;
    goOn = new Promise((resolve) => (release = resolve));
    const client = await raw(`Content-Type: application/gzip\r\nContent-Length: ${LIMIT}`);
    let sent = 0;
    for (let more = true; more && sent < LIMIT;) {
      const wrote = client.write(Buffer.alloc(64 * KIB)).then(() => true);
      more = await Promise.race([wrote, new Promise<false>((resolve) => setTimeout(resolve, 300, false))]);
      if (more) sent += 64 * KIB;
    }
    // The kernel's own buffers lie between.
    expect(sent).to.be.below(LIMIT);
    expect(taken).to.equal(0);
    release();
    client.close();
    await waitUntil('the handlers know', () => thrown.length === 1);
  });

  it('aborts a body that arrives too slowly, but not when the handler is slow', async () => {
    const slow = await raw('Content-Type: application/gzip\r\nTransfer-Encoding: chunked', '1\r\nx\r\n', hasty);
    await slow.until(({ received }) => received.includes('invalid_request'));
    expect(slow.received).to.match(/^HTTP\/1\.1 400 /);
    slow.close();
    goOn = new Promise((resolve) => setTimeout(resolve, 3 * WINDOW_MS));
    const whole = await raw('Content-Type: application/gzip\r\nContent-Length: 100', 'x'.repeat(100), hasty);
    await whole.until(({ received }) => received.includes('"bytes":100'));
    expect(whole.received).to.match(/^HTTP\/1\.1 200 /);
    whole.close();
  });

  it('aborts the handler’s signal when the client disconnects', async () => {
    for (const type of ['application/gzip', FORM]) {
      thrown.length = 0;
      const client = await raw(
        `Content-Type: ${type}\r\nContent-Length: ${MIB}`,
        type === FORM ? part('package', 'x') : 'x'.repeat(9),
      );
      client.close();
      await waitUntil('the handlers know', () => thrown.length === 1);
      expect(thrown[0]).to.have.property('code', 'invalid_request');
    }
  });

  describe('malformed forms', () => {
    const rejected: [what: string, body: () => Buffer, expected: string][] = [
      ['without the file', () => form(part('notes', 'x')), '422 validation_failed'],
      ['empty', () => form(), '422 validation_failed'],
      ['with an unknown part', () => form(part('other', 'x'), part('package', 'x')), '422 validation_failed'],
      [
        'with a part named __proto__',
        () => form(part('__proto__', 'x'), part('package', 'x')),
        '422 validation_failed',
      ],
      ['with two files', () => form(part('package', 'x'), part('package', 'y')), '422 validation_failed'],
      [
        'with a field twice',
        () => form(part('notes', 'x'), part('notes', 'y'), part('package', 'x')),
        '422 validation_failed',
      ],
      [
        'with a large field',
        () => form(part('notes', 'x'.repeat(65 * KIB)), part('package', 'x')),
        '422 validation_failed',
      ],
      [
        'with 1,000 fields',
        () => form(...Array.from({ length: 1_000 }, () => part('notes', 'x'))),
        '422 validation_failed',
      ],
      ['cut off before its end', () => part('package', 'xxx'), '400 invalid_request'],
      ['with another boundary', () => Buffer.from('--other\r\n\r\n\r\n--other--\r\n'), '400 invalid_request'],
      ['of nothing', () => Buffer.alloc(0), '400 invalid_request'],
      ['with an endless preamble', () => Buffer.alloc(4 * MIB, 'p'), '400 invalid_request'],
      [
        'with an endless epilogue',
        () => Buffer.concat([form(part('package', 'x')), Buffer.alloc(4 * MIB, 'e')]),
        '400 invalid_request',
      ],
      [
        'with endless part headers',
        () => Buffer.from(`--${B}\r\n${'X-A: b\r\n'.repeat(500_000)}`),
        '400 invalid_request',
      ],
      [
        'with one endless part header',
        () => Buffer.from(`--${B}\r\nX-A: ${'b'.repeat(4 * MIB)}`),
        '400 invalid_request',
      ],
      [
        'with 1,000 unnamed parts',
        () =>
          Buffer.concat([...Array.from({ length: 1_000 }, () => Buffer.from(`--${B}\r\nA: b\r\n\r\nx\r\n`)), form()]),
        '422 validation_failed',
      ],
    ];
    for (const [what, body, expected] of rejected) {
      it(`rejects a form with ${what}`, async () => {
        const bytes = body();
        const one = bytes.length === 0 ? bytes : new Blob([bytes]).stream();
        expect(code(await send(one, { 'content-type': FORM }))).to.equal(expected);
      });
    }

    it('reports the invalid part', async () => {
      const answer = await send(form(part('notes', 'x')), { 'content-type': FORM });
      expect(answer.body.error.fields).to.deep.equal({ package: 'is required' });
      const other = await send(form(part('other', 'x')), { 'content-type': FORM });
      expect(other.body.error.fields).to.deep.equal({ other: 'is not a part of this form' });
    });

    it('leaks no file descriptor', async () => {
      const descriptors = await openFiles();
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const client = await raw(
            `Content-Type: ${FORM}\r\nContent-Length: ${MIB}`,
            part('package', 'y'.repeat(70_000)),
          );
          client.close();
        }),
      );
      await waitUntil('the handlers know', () => thrown.length === 20);
      await waitUntil('no descriptor is left', async () => (await openFiles()) <= descriptors);
    });
  });
});
