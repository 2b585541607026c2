/** `/mcp` as bytes on the wire: what the transport and JSON-RPC ask for, revision by revision. */
import { expect } from 'chai';
import { SHARED_KEY, TestService } from '../../support/service.js';
import { ALL } from './fixture.js';

interface Rpc {
  jsonrpc: string;
  id: number | string | null;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

interface Asked {
  status: number;
  headers: Headers;
  text: string;
  /** The one JSON-RPC message that came back. */
  rpc: Rpc;
}

const initialize = (protocolVersion: string): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
});
const request = (method: string, params?: object, id: number | string = 7): object => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params && { params }),
});

describe('mcp: the transport', function () {
  let service: TestService;
  let token: string;

  before(async () => {
    service = await TestService.createInProcess({
      SVC_MCP__ALLOWED_ORIGINS: '["https://tools.example"]',
      SVC_LIMITS__AUTH_FAILURES_PER_MINUTE: '0',
    });
    await service.createProject('shop');
    token = await service.createToken(ALL);
  });
  after(() => service.dispose());

  async function send(
    body: unknown,
    headers: Record<string, string | null> = {},
    method = 'POST',
    bearer: string | null = token,
  ): Promise<Asked> {
    const all: Record<string, string | null> = {
      authorization: bearer === null ? null : `Bearer ${bearer}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    };
    const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const response = await fetch(`${service.url}/mcp`, {
      method,
      headers: Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null)),
      ...(method === 'POST' ? { body: raw as NonNullable<RequestInit['body']> } : {}),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      get rpc() {
        return JSON.parse(text) as Rpc;
      },
    };
  }

  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    it(`negotiates ${version}`, async () => {
      const { status, rpc, headers } = await send(initialize(version));
      expect(status).to.equal(200);
      expect(headers.get('content-type')).to.match(/^application\/json/);
      expect(headers.get('mcp-session-id')).to.equal(null);
      expect(rpc).to.include({ jsonrpc: '2.0', id: 1 });
      expect(rpc.result).to.include({ protocolVersion: version });
      expect(rpc.result?.['capabilities']).to.deep.equal({ tools: {} });
      expect(rpc.result?.['serverInfo']).to.include({ name: 'aos' });
      expect((await send(request('tools/list'), { 'mcp-protocol-version': version })).status).to.equal(200);
    });
  }

  it('responds to an unsupported version with a supported version', async () => {
    for (const version of ['1999-01-01', '2099-01-01', 'nonsense']) {
      const { status, rpc } = await send(initialize(version));
      expect(status, version).to.equal(200);
      expect(rpc.result?.['protocolVersion'], version).to.equal('2025-11-25');
    }
  });

  it('supports 2026-07-28 without a handshake', async () => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' };
    const { status, rpc } = await send(request('server/discover', { _meta }), headers);
    expect(status).to.equal(200);
    expect(rpc.result?.['supportedVersions']).to.deep.equal(['2026-07-28']);
    const listed = await send(request('tools/list', { _meta }), { ...headers, 'mcp-method': 'tools/list' });
    expect(listed.rpc.result?.['tools']).to.have.length.greaterThan(8);
    const missing = await send(request('tools/list', { _meta }), { 'mcp-protocol-version': '2026-07-28' });
    expect(missing.status).to.equal(400);
    const other = await send(request('tools/list', { _meta }), { ...headers, 'mcp-method': 'tools/call' });
    expect(other.status).to.equal(400);
    expect(other.rpc.error?.code).to.equal(-32_020);
    // Nothing is ever told later, so a subscription ends at once instead of holding the connection.
    const listen = await send(request('subscriptions/listen', { _meta, notifications: { toolsListChanged: true } }), {
      ...headers,
      'mcp-method': 'subscriptions/listen',
    });
    expect(listen.status).to.equal(200);
    expect(listen.text).to.include('"resultType":"complete"');
  });

  it('rejects an unsupported revision in the header', async () => {
    for (const version of ['1999-01-01', '2099-01-01', 'nonsense']) {
      const { status, rpc } = await send(request('ping'), { 'mcp-protocol-version': version });
      expect(status, version).to.equal(400);
      expect(rpc.error?.code, version).to.be.lessThan(-31_999);
    }
  });

  it('responds to ping, but not to notifications or responses', async () => {
    expect((await send(request('ping'))).rpc.result).to.deep.equal({});
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      { jsonrpc: '2.0', method: 'notifications/nobody-knows' },
      { jsonrpc: '2.0', id: 4, result: {} },
    ]) {
      const { status, text } = await send(message);
      expect(status, JSON.stringify(message)).to.equal(202);
      expect(text).to.equal('');
    }
  });

  it('returns 405 for GET and DELETE before authentication, as there are no streams or sessions', async () => {
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS']) {
      const { status, headers } = await send(null, { accept: 'text/event-stream' }, method, null);
      expect(status, method).to.equal(405);
      expect(headers.get('allow'), method).to.equal('POST');
    }
    expect((await send(request('ping'), { 'mcp-session-id': 'left-over' })).status).to.equal(200);
  });

  it('returns 401 with WWW-Authenticate without a token, and 403 for the shared key', async () => {
    for (const bearer of [null, 'svc_live_nobody', 'x']) {
      const { status, headers, text } = await send(initialize('2025-11-25'), {}, 'POST', bearer);
      expect(status).to.equal(401);
      expect(headers.get('www-authenticate')).to.match(/^Bearer/);
      expect((JSON.parse(text) as { error: { code: string } }).error.code).to.equal('unauthorized');
    }
    expect((await send(request('ping'), {}, 'POST', SHARED_KEY)).status).to.equal(403);
    expect((await send('not json at all', {}, 'POST', null)).status).to.equal(401);
  });

  it('rejects pages of another origin', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1.evil.example', '', 'file://']) {
      const { status, rpc } = await send(request('ping'), { origin });
      expect(status, origin).to.equal(403);
      expect(rpc.error?.code, origin).to.equal(-32_000);
    }
    for (const origin of [service.url, 'http://localhost:6274', 'https://tools.example']) {
      expect((await send(request('ping'), { origin })).status, origin).to.equal(200);
    }
  });

  it('requires Accept headers and a JSON content type', async () => {
    for (const accept of ['text/html', 'text/event-stream', 'application/json;q=0']) {
      expect((await send(request('ping'), { accept })).status, accept).to.equal(406);
    }
    for (const accept of ['*/*', 'application/json', 'application/json, text/event-stream']) {
      expect((await send(request('ping'), { accept })).status, accept).to.equal(200);
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx']) {
      const { status, rpc } = await send(request('ping'), { 'content-type': type });
      expect(status, type).to.equal(415);
      expect(rpc.error?.code).to.equal(-32_000);
    }
    expect((await send(request('ping'), { 'content-type': 'application/json; charset=utf-8' })).status).to.equal(200);
    expect((await send(request('ping'), { 'content-encoding': 'gzip' })).status).to.equal(415);
  });

  it('returns JSON-RPC errors for bad JSON and invalid messages, never a 5xx', async () => {
    const cases: [body: string | Uint8Array, code: number][] = [
      ['', -32_700],
      ['{', -32_700],
      ['{"jsonrpc":"2.0",}', -32_700],
      [new Uint8Array([0x7b, 0xff, 0x7d]), -32_700],
      ['null', -32_600],
      ['17', -32_600],
      ['"text"', -32_600],
      ['[]', -32_600],
      ['{}', -32_600],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32_600],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32_600],
      ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600],
      ['{"jsonrpc":"2.0","id":1,"method":5}', -32_600],
      ['{"jsonrpc":"2.0","id":1,"method":"ping","params":7}', -32_600],
      [`${'['.repeat(5_000)}${']'.repeat(5_000)}`, -32_600],
      [`{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}}`, -32_600],
    ];
    for (const [body, code] of cases) {
      const { status, rpc } = await send(body);
      const shown = String(body).slice(0, 60);
      expect(status, shown).to.equal(400);
      expect(rpc.jsonrpc, shown).to.equal('2.0');
      expect(rpc.error?.code, shown).to.equal(code);
    }
  });

  it('returns JSON-RPC errors for unknown methods, unknown tools and invalid params', async () => {
    for (const [method, params, code] of [
      ['nobody/knows', undefined, -32_601],
      ['resources/list', undefined, -32_601],
      ['prompts/get', { name: 'x' }, -32_601],
      ['tools/call', { name: 'nothing' }, -32_602],
      ['tools/call', {}, -32_602],
      ['tools/call', { name: 'get', arguments: 'shop-1' }, -32_602],
      ['tools/call', { name: '__proto__', arguments: {} }, -32_602],
    ] as const) {
      const { status, rpc } = await send(request(method, params));
      expect(status, method).to.equal(200);
      expect(rpc.error?.code, `${method} ${JSON.stringify(params)}`).to.equal(code);
      expect(rpc.id).to.equal(7);
    }
  });

  it('limits the body size', async () => {
    const big = request('tools/call', { name: 'comment', arguments: { id: 'x', body: 'x'.repeat(1024 * 1024) } });
    const { status, text } = await send(big);
    expect(status).to.equal(413);
    expect((JSON.parse(text) as { error: { code: string } }).error.code).to.equal('payload_too_large');
  });

  it('accepts batches only in protocol revisions that support them', async () => {
    const batch = [
      request('ping', undefined, 'a'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      request('ping', undefined, 'b'),
    ];
    for (const version of ['2024-11-05', '2025-03-26', null]) {
      const { status, text } = await send(batch, { 'mcp-protocol-version': version });
      expect(status, String(version)).to.equal(200);
      expect((JSON.parse(text) as Rpc[]).map(({ id }) => String(id)).sort()).to.deep.equal(['a', 'b']);
    }
    for (const version of ['2025-06-18', '2025-11-25', '2026-07-28']) {
      const { status, rpc } = await send(batch, { 'mcp-protocol-version': version });
      expect(status, version).to.equal(400);
      expect(rpc.error?.code).to.equal(-32_600);
    }
    expect((await send([initialize('2025-03-26'), request('ping')])).status).to.equal(400);
    expect((await send(Array.from({ length: 101 }, (_, i) => request('ping', undefined, i)))).status).to.equal(400);
  });

  it('responds to every request of a batch, also cancelled and repeated ones', async () => {
    const cancelled = [
      request('tools/call', { name: 'search', arguments: {} }, 1),
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    ];
    const first = await send(cancelled);
    expect(first.status).to.equal(200);
    expect([JSON.parse(first.text) as Rpc | Rpc[]].flat()[0]?.id).to.equal(1);
    const repeated = await send([request('ping', undefined, 1), request('ping', undefined, 1)]);
    expect(repeated.status).to.equal(200);
    const onlyCancelled = await send([{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } }]);
    expect(onlyCancelled.status).to.equal(202);
  });

  it('lists tools with their descriptions and schemas', async () => {
    const { rpc } = await send(request('tools/list'));
    const tools = rpc.result?.['tools'] as {
      name: string;
      description: string;
      inputSchema: { type: string; properties: Record<string, object> };
      annotations?: Record<string, boolean>;
    }[];
    for (const tool of tools) {
      expect(tool.description, tool.name).to.match(/^[A-Z].{30,}\.$/);
      expect(tool.inputSchema, tool.name).to.include({ type: 'object' });
    }
    const named = (name: string): (typeof tools)[number] => tools.find((tool) => tool.name === name)!;
    expect(named('get').annotations).to.include({ readOnlyHint: true });
    expect(named('claim').annotations).to.include({ destructiveHint: false });
    expect(named('update').annotations).to.equal(undefined);
    expect(named('resolve').inputSchema.properties).to.have.keys(
      'id',
      'claim_token',
      'resolved_in_build',
      'fix_commit',
      'pr_url',
      'comment',
    );
    expect(named('next').inputSchema.properties).to.not.have.any.keys('action', 'limit', 'cursor');
    expect(named('search').inputSchema.properties).to.not.have.any.keys('action', 'agent', 'lease_seconds');
  });

  it('propagates the request id, and charges each call to the token’s rate limit once', async () => {
    const { headers } = await send(request('ping'), { 'x-request-id': 'request-4711' });
    expect(headers.get('x-request-id')).to.equal('request-4711');
    const limited = await TestService.createInProcess({ SVC_LIMITS__API_PER_MINUTE: '4' });
    try {
      const own = await limited.createToken(ALL);
      const call = request('tools/call', { name: 'search', arguments: {} });
      const asks = [];
      for (let i = 0; i < 5; i++) asks.push(await limited.request('POST', '/mcp', own, call));
      expect(asks.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 429]);
      expect(Number(asks[4]?.headers.get('retry-after'))).to.be.greaterThan(0);
      const other = await limited.createToken(ALL);
      const batch = await limited.request(
        'POST',
        '/mcp',
        other,
        [1, 2, 3].map((id) => request('ping', undefined, id)),
      );
      expect(batch.status).to.equal(200);
      const rest = [];
      for (let i = 0; i < 2; i++) rest.push((await limited.request('POST', '/mcp', other, call)).status);
      expect(rest).to.deep.equal([200, 429]);
    } finally {
      await limited.dispose();
    }
  });

  it('is omitted from the REST description, which lists the tools', async () => {
    const { body } = await service.request('GET', '/api/openapi.json', null);
    const { paths, info } = body as {
      paths: Record<string, Record<string, Record<string, unknown>>>;
      info: { description: string };
    };
    expect(paths).to.not.have.property('/mcp');
    expect(info.description).to.include('POST /mcp');
    const claim = paths['/api/bugtracker/v1/bugs/{id}/claim']?.['post'];
    expect(claim?.['x-mcp-tools']).to.deep.equal(['claim']);
  });
});
