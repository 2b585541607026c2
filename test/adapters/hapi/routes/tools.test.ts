/**
 * Routes as tools: arguments from the route's schemas, and a call that meets what every request
 * meets.
 */
import { expect } from 'chai';
import joi from 'joi';
import { Reply, type HttpRequest, type RouteSpec, type ToolSpec } from '../../../../ports/http/index.js';
import type { RouteAnswer } from '../../../../ports/tools.js';
import { NO_LIMITS, TestServer } from '../support.js';

const READER = 'sub:chat:read';

const tool = (name: string, more: Partial<ToolSpec> = {}): ToolSpec => ({
  name,
  title: name,
  description: name,
  ...more,
});

/** What the inner route saw. */
const seen = ({ method, path, params, query, body, principal, address, id, headers }: HttpRequest): object => ({
  method,
  path,
  params,
  query,
  body,
  who: principal.kind === 'token' ? principal.name : principal.kind,
  address,
  id,
  agent: headers['user-agent'],
});

const edit: RouteSpec = {
  method: 'PATCH',
  path: '/api/things/v1/{id}',
  summary: 'Edit',
  access: { scope: 'chat:read' },
  input: {
    params: joi.object({ id: joi.string().max(20).required() }),
    query: joi.object({ dry: joi.boolean(), tag: joi.array().items(joi.string()), both: joi.string() }),
    body: joi.object({
      title: joi.string().max(5).required(),
      note: joi.string().allow('', null),
      state: joi.string(),
      both: joi.string(),
    }),
  },
  strictQuery: true,
  output: joi.object({ method: joi.string() }),
  tool: [
    tool('edit', { omit: ['state'], describe: { title: 'Its name' }, defaults: { note: 'none' }, readOnly: false }),
    tool('close', { only: ['id', 'title'], fixed: { state: 'closed' } }),
    tool('move', { only: ['id', 'title', 'state'], choices: { state: ['open', 'done'] } }),
  ],
  handle: seen,
};
const fails: RouteSpec = {
  method: 'GET',
  path: '/api/things/v1/fails',
  summary: 'Fails',
  access: { scope: 'chat:read' },
  tool: tool('fails'),
  handle: () => {
    throw new Error('secret of the house');
  },
};
const bulk: RouteSpec = {
  method: 'POST',
  path: '/api/things/v1/bulk',
  summary: 'Bulk',
  access: { scope: 'chat:read' },
  limits: { rate: 'bulk' },
  tool: tool('bulk'),
  handle: () => new Reply(207, { done: 1 }),
};

/** A route that calls the tool it is asked for. */
async function stand(limits: Partial<typeof NO_LIMITS> = {}): Promise<{
  server: TestServer;
  call: (name: string, args?: object, bearer?: string, headers?: Record<string, string>) => Promise<RouteAnswer | null>;
}> {
  const server: TestServer = await TestServer.create(
    {
      routes: [
        edit,
        fails,
        bulk,
        {
          method: 'POST',
          path: '/call/{name}',
          summary: 'Call',
          access: { anyToken: true },
          input: { body: joi.object().unknown() },
          handle: async (request) => ({
            answer: await server.server
              .getTools()
              .call(request.params['name'] ?? '', request.body as Record<string, unknown>, request),
          }),
        },
      ],
    },
    { limits: { ...NO_LIMITS, ...limits } },
  );
  return {
    server,
    call: async (name, args = {}, bearer = READER, headers = {}) => {
      const requested = await server.ask('POST', `/call/${name}`, { bearer, json: args, headers });
      return requested.status === 200
        ? (requested.body as unknown as { answer: RouteAnswer | null }).answer
        : { status: requested.status, headers: {}, body: requested.body };
    },
  };
}

const errorOf = (answer: RouteAnswer | null): { code: string; fields?: Record<string, string> } =>
  answer?.body['error'] as { code: string };

describe('hapi: routes as MCP tools', () => {
  it('derives arguments from params, body and query, without fixed and omitted fields', async () => {
    const { server } = await stand();
    const [first, second] = server.server.getTools().list();
    expect(first).to.deep.include({ name: 'edit', readOnly: false });
    expect(first?.input).to.deep.equal({
      type: 'object',
      properties: {
        id: { type: 'string', maxLength: 20 },
        title: { type: 'string', maxLength: 5, description: 'Its name' },
        note: { type: ['string', 'null'], default: 'none' },
        both: { type: 'string' },
        dry: { type: 'boolean' },
        tag: { type: ['string', 'array'], items: { type: 'string' } },
      },
      required: ['id', 'title'],
      additionalProperties: false,
    });
    expect(second?.input['properties']).to.have.keys('id', 'title');
  });

  it('sends each argument where the route expects it, with the caller’s credential', async () => {
    const { call } = await stand();
    const answer = await call(
      'edit',
      { id: 'a/b?c#d', title: 'ünï', dry: true, tag: ['x&y', 'z'], both: 'b' },
      READER,
      { 'x-request-id': 'request-17', 'user-agent': 'an agent' },
    );
    expect(answer?.status).to.equal(200);
    expect(answer?.body).to.include({
      status: 'success',
      method: 'PATCH',
      path: '/api/things/v1/a%2Fb%3Fc%23d',
      who: 'sub',
      address: '127.0.0.1',
      id: 'request-17',
      agent: 'an agent',
    });
    expect(answer?.body['params']).to.deep.equal({ id: 'a/b?c#d' });
    expect(answer?.body['query']).to.deep.equal({ dry: true, tag: ['x&y', 'z'] });
    expect(answer?.body['body']).to.deep.equal({ note: 'none', title: 'ünï', both: 'b' });
  });

  it('always sends the fixed values', async () => {
    const { call } = await stand();
    expect((await call('close', { id: 'a', title: 't' }))?.body['body']).to.deep.equal({ title: 't', state: 'closed' });
    const rejected = await call('close', { id: 'a', title: 't', state: 'open' });
    expect(rejected?.status).to.equal(422);
    expect(errorOf(rejected)).to.deep.include({
      code: 'validation_failed',
      fields: { state: 'is not an argument of close' },
      takes: 'id (required), title (required)',
    });
  });

  it('accepts only the choices that the tool offers, and lists them on rejection', async () => {
    const { server, call } = await stand();
    const move = server.server
      .getTools()
      .list()
      .find(({ name }) => name === 'move');
    expect((move?.input['properties'] as Record<string, object> | undefined)?.['state']).to.deep.equal({
      type: 'string',
      enum: ['open', 'done'],
    });
    expect((await call('move', { id: 'a', title: 't', state: 'done' }))?.body['body']).to.include({ state: 'done' });
    const rejected = await call('move', { id: 'a', title: 't', state: 'closed' });
    expect(rejected?.status).to.equal(422);
    expect(errorOf(rejected)).to.deep.include({
      code: 'validation_failed',
      fields: { state: 'must be one of open, done' },
    });
    expect(errorOf(await call('move', { id: 'a', title: 't', state: 7 })).fields).to.deep.equal({
      state: 'must be a string',
    });
  });

  it('reports unknown and missing arguments, and leaves all other validation to the route', async () => {
    const { call } = await stand();
    expect(errorOf(await call('edit', { nonsense: 1, __proto__x: 2 })).fields).to.have.keys(
      'nonsense',
      '__proto__x',
      'id',
      'title',
    );
    expect(errorOf(await call('edit', { id: 'a', title: 'too long' })).fields).to.deep.equal({
      title: 'length must be less than or equal to 5 characters long',
    });
    expect(errorOf(await call('edit', { id: 'a', title: 't', dry: 'maybe' })).code).to.equal('invalid_request');
    expect(errorOf(await call('edit', { id: 'a', title: 't', dry: [true, false] })).code).to.equal('invalid_request');
  });

  it('cannot reach another route through its path parameters', async () => {
    const { call } = await stand();
    for (const id of ['', '.', '..', '\ud800', null, {}, ['a'], true]) {
      const answer = await call('edit', { id, title: 't' });
      expect(errorOf(answer).code, JSON.stringify(id)).to.equal('not_found');
    }
    expect((await call('edit', { id: '../v1/bulk', title: 't' }))?.body['params']).to.deep.equal({ id: '../v1/bulk' });
    expect(errorOf(await call('edit', { id: 'a\0b', title: 't' })).code).to.equal('not_found');
    expect(errorOf(await call('edit', { id: 'x'.repeat(21), title: 't' })).code).to.equal('not_found');
  });

  it('applies the access policy to a missing scope and an invalid token', async () => {
    const { call } = await stand();
    expect(errorOf(await call('edit', { id: 'a', title: 't' }, 'sub:other:read')).code).to.equal('insufficient_scope');
    expect((await call('edit', { id: 'a', title: 't' }, 'nobody'))?.status).to.equal(401);
  });

  it('counts a tool call with the surrounding request, and otherwise in its own rate-limit class', async () => {
    const { call } = await stand({ api_per_minute: 5, bulk_per_minute: 2 });
    const bulks = [await call('bulk'), await call('bulk'), await call('bulk')];
    expect(bulks.map((one) => one?.status)).to.deep.equal([207, 207, 429]);
    expect(Number(bulks[2]?.headers['retry-after'])).to.be.greaterThan(0);
    const edits = [];
    for (let i = 0; i < 3; i++) edits.push((await call('edit', { id: 'a', title: 't' }))?.status);
    expect(edits).to.deep.equal([200, 200, 429]);
  });

  it('returns null for an unknown tool, and hides the message of an internal error', async () => {
    const { call } = await stand();
    expect(await call('nothing')).to.equal(null);
    const failed = await call('fails');
    expect(failed?.status).to.equal(500);
    expect(JSON.stringify(failed?.body)).to.not.include('secret');
  });

  it('rejects a request object that does not come from a handler', async () => {
    const { server } = await stand();
    const forged = { id: 'x', principal: { kind: 'shared_key' } } as unknown as HttpRequest;
    let thrown: unknown;
    await server.server
      .getTools()
      .call('edit', {}, forged)
      .catch((error: unknown) => (thrown = error));
    expect(thrown).to.be.instanceOf(TypeError);
  });

  it('marks tools in the OpenAPI document', async () => {
    const { server } = await stand();
    const { paths } = (await server.server.getOpenApi()) as {
      paths: Record<string, Record<string, Record<string, unknown>>>;
    };
    expect(paths['/api/things/v1/{id}']?.['patch']?.['x-mcp-tools']).to.deep.equal(['edit', 'close', 'move']);
  });
});
