import { expect } from 'chai';
import joi from 'joi';
import { toJsonSchema } from '../../../../adapters/hapi/openapi/json-schema.js';
import { withSchemaName, withJsonSchema, hideFromOpenApi, type RouteSpec } from '../../../../ports/http/index.js';
import { TestServer } from '../support.js';

const convert = (schema: joi.Schema): unknown => toJsonSchema(schema.describe());
const handle = (): object => ({});
const item = joi.object({ id: joi.string().required(), tags: joi.array().items(joi.string()) });
const thing = withSchemaName('Thing', item.description('What is listed.'));

const routes: RouteSpec[] = [
  {
    method: 'GET',
    path: '/api/bugtracker/v1/bugs',
    operationId: 'listThings',
    summary: 'List',
    description: 'Longer.',
    access: { scope: 'bugtracker:read' },
    strictQuery: true,
    input: {
      query: joi.object({
        limit: joi.number().integer().min(1).max(200).default(50).description('Page size.'),
        q: joi.string().required(),
        action: hideFromOpenApi(joi.string()),
      }),
    },
    output: joi.object({ items: joi.array().items(thing).required() }),
    handle,
  },
  {
    method: ['PATCH', 'DELETE'],
    path: '/api/bugtracker/v1/bugs/{id}',
    aliases: ['/api/bugtracker/v1/items/{id}'],
    summary: 'Change',
    access: [{ scope: 'bugtracker:manage' }, { sharedKey: true }],
    input: { params: joi.object({ id: joi.string().max(64).description('Id or ref.') }), body: item },
    operationId: ['changeThing', 'removeThing', 'changeThingAsItem', 'removeThingAsItem'],
    errors: ['invalid_transition', 'conflict'],
    output: {
      200: joi.alternatives(joi.object({ item: thing.allow(null) }), joi.object({ items: joi.array() })),
      201: withSchemaName('ThingMade', joi.object({ item: thing.description('The new one.') })),
    },
    handle,
  },
  {
    method: 'POST',
    path: '/api/bugtracker/v1/bugs-by/{id}',
    summary: 'Same words',
    access: { anyToken: true },
    handle,
  },
  {
    method: 'POST',
    path: '/api/license/v1/validate',
    summary: 'Validate',
    access: 'public',
    bare: true,
    input: { body: item },
    output: item,
    handle,
  },
  { method: 'GET', path: '/api/health/live', summary: 'Live', access: 'public', limits: { rate: 'none' }, handle },
  { method: 'GET', path: '/metrics', summary: 'Metrics', access: { anyToken: true }, output: joi.string(), handle },
  {
    method: 'POST',
    path: '/api/admin/v1/migrate',
    summary: 'Migrate',
    access: [{ sharedKey: true }, { session: 'admin' }],
    handle,
  },
  { method: 'POST', path: '/api/7/envelope/', summary: 'Raw', access: 'public', limits: { payload: 'raw' }, handle },
  { method: 'GET', path: '/files/{path*}', summary: 'Files', access: 'public', handle },
  {
    method: 'GET',
    path: '/releases/{path*}',
    summary: 'Release files',
    access: { basic: { realm: 'x', authorize: async () => ({ open: true, username: null }) } },
    output: withJsonSchema({ contentMediaType: 'application/gzip' }, joi.string()),
    handle,
  },
  {
    method: 'POST',
    path: '/api/updateservice/v1/publish',
    summary: 'Publish',
    access: { scope: 'updateservice:publish' },
    input: {
      stream: {
        mediaTypes: ['application/gzip'],
        multipart: { file: 'package', fields: ['notes'], fieldBytes: 1_024 },
        bytes: 1_024,
      },
    },
    handle,
  },
  {
    method: 'POST',
    path: '/api/setup/v1/agent',
    summary: 'Agent',
    access: { scope: 'setup:install' },
    hidden: true,
    handle,
  },
];

type Json = Record<string, unknown>;

/** The value at a path of keys. */
const dig = (root: unknown, ...keys: string[]): unknown =>
  keys.reduce<unknown>((at, key) => (typeof at === 'object' && at !== null ? (at as Json)[key] : undefined), root);

describe('hapi: OpenAPI', () => {
  let document: Json;
  before(async () => {
    document = JSON.parse(
      JSON.stringify(
        await (await TestServer.create({ routes }, { base_url: 'https://aos.example' })).server.getOpenApi(),
      ),
    ) as Json;
  });
  const component = (name: string): unknown => dig(document, 'components', 'schemas', name);
  const operations = (): [string, string, Json][] =>
    Object.entries(document['paths'] as Json).flatMap(([path, methods]) =>
      Object.entries(methods as Json).map(([method, operation]): [string, string, Json] => [
        path,
        method,
        operation as Json,
      ]),
    );

  it('describes every route except hidden routes, under its public path', () => {
    expect(document['openapi']).to.equal('3.1.0');
    expect(document['servers']).to.deep.equal([{ url: 'https://aos.example' }]);
    expect(Object.keys(document['paths'] as Json)).to.have.members([
      '/api/bugtracker/v1/bugs',
      '/api/bugtracker/v1/bugs/{id}',
      '/api/bugtracker/v1/items/{id}',
      '/api/bugtracker/v1/bugs-by/{id}',
      '/api/license/v1/validate',
      '/api/health/live',
      '/metrics',
      '/api/admin/v1/migrate',
      '/api/7/envelope',
      '/files/{path}',
      '/releases/{path}',
      '/api/updateservice/v1/publish',
    ]);
  });

  it('has unique operation ids, and declares every path parameter', () => {
    const ids = operations().map(([, , operation]) => operation['operationId'] as string);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^[a-z][A-Za-z0-9_]*$/);
    for (const [path, method, operation] of operations()) {
      const declared = ((operation['parameters'] ?? []) as Json[])
        .filter((one) => one['in'] === 'path')
        .map((one) => one['name'] as string);
      expect(declared, `${method} ${path}`).to.have.members(
        [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]!),
      );
    }
  });

  it('has no dangling references', () => {
    const seen = new Set<string>();
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        if (key === '$ref' && typeof inner === 'string') seen.add(inner);
        else walk(inner);
      }
    };
    walk(document);
    expect(seen.size).to.be.above(3);
    for (const pointer of seen) {
      const found = dig(document, ...pointer.slice(2).split('/'));
      expect(found, pointer).to.be.an('object');
    }
    const schemes = Object.keys(dig(document, 'components', 'securitySchemes') as Json);
    for (const [, , operation] of operations()) {
      for (const need of operation['security'] as Json[]) expect(schemes).to.include.members(Object.keys(need));
    }
  });

  it('describes parameters, bodies, responses, credentials and errors', () => {
    const list = dig(document, 'paths', '/api/bugtracker/v1/bugs', 'get') as Json;
    expect(list['security']).to.deep.equal([{ token: ['bugtracker:read'] }]);
    expect(list['parameters']).to.deep.equal([
      {
        name: 'limit',
        in: 'query',
        description: 'Page size.',
        schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      },
      { name: 'q', in: 'query', required: true, schema: { type: 'string', minLength: 1 } },
    ]);
    expect(dig(list, 'responses', '200', 'content', 'application/json', 'schema')).to.deep.equal({
      $ref: '#/components/schemas/ListThingsAnswer',
    });
    expect(component('ListThingsAnswer')).to.deep.equal({
      type: 'object',
      properties: {
        status: { type: 'string', const: 'success' },
        items: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
        warnings: {
          type: 'array',
          items: { type: 'string' },
          description: 'Warnings for an accepted request: unknown fields, and values that were adjusted',
        },
      },
      required: ['status', 'items'],
    });
    expect(component('Thing')).to.deep.equal({
      type: 'object',
      properties: { id: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
      required: ['id'],
      description: 'What is listed.',
    });
    expect(Object.keys(list['responses'] as Json)).to.have.members(['200', '400', '401', '403', '429', 'default']);
    const validate = dig(document, 'paths', '/api/license/v1/validate', 'post') as Json;
    expect(validate['security']).to.deep.equal([]);
    expect(dig(validate, 'responses', '200', 'content', 'application/json', 'schema')).to.deep.equal({
      $ref: '#/components/schemas/PostLicenseValidateAnswer',
    });
    expect(dig(component('PostLicenseValidateAnswer'), 'properties')).to.not.have.property('status');
    expect(dig(validate, 'responses', '422')).to.deep.equal({
      $ref: '#/components/responses/BareValidationFailed',
    });
    expect(dig(validate, 'responses', '400')).to.deep.equal({ $ref: '#/components/responses/BareInvalidJson' });
    expect(dig(document, 'paths', '/metrics', 'get', 'responses', '200', 'content')).to.have.all.keys('text/plain');
    expect(dig(document, 'paths', '/api/7/envelope', 'post', 'requestBody', 'content')).to.have.all.keys(
      'application/octet-stream',
    );
    expect(dig(document, 'paths', '/api/admin/v1/migrate', 'post', 'security')).to.deep.equal([
      { sharedKey: [] },
      { session: ['admin'] },
    ]);
    expect(dig(document, 'paths', '/api/health/live', 'get', 'responses')).to.not.have.property('429');
  });

  it('describes HTTP Basic, files and streamed bodies', () => {
    const file = dig(document, 'paths', '/releases/{path}', 'get') as Json;
    expect(file['security']).to.deep.equal([{ basic: [] }]);
    expect(dig(document, 'components', 'securitySchemes', 'basic')).to.include({ type: 'http', scheme: 'basic' });
    expect(dig(file, 'responses', '200', 'content')).to.have.all.keys('application/gzip');
    const publish = dig(document, 'paths', '/api/updateservice/v1/publish', 'post');
    const binary = { type: 'string', format: 'binary' };
    expect(dig(publish, 'requestBody')).to.deep.equal({
      required: true,
      content: {
        'application/gzip': { schema: binary },
        'multipart/form-data': {
          schema: { type: 'object', required: ['package'], properties: { package: binary, notes: { type: 'string' } } },
        },
      },
    });
    expect(dig(publish, 'responses')).to.include.all.keys('400', '401', '413', '415', '422');
  });

  it('describes operation names, responses by status, and the errors of a route', () => {
    const ids = operations().map(([, , operation]) => operation['operationId'] as string);
    expect(ids).to.include.members([
      'listThings',
      'changeThing',
      'removeThing',
      'changeThingAsItem',
      'removeThingAsItem',
    ]);
    const change = dig(document, 'paths', '/api/bugtracker/v1/bugs/{id}', 'patch');
    const answer = (status: string): unknown =>
      dig(change, 'responses', status, 'content', 'application/json', 'schema');
    expect(answer('200')).to.deep.equal({
      anyOf: [
        { $ref: '#/components/schemas/ChangeThingAnswer2001' },
        { $ref: '#/components/schemas/ChangeThingAnswer2002' },
      ],
    });
    expect(dig(component('ChangeThingAnswer2001'), 'properties', 'item')).to.deep.equal({
      anyOf: [{ $ref: '#/components/schemas/Thing' }, { type: 'null' }],
    });
    expect(answer('201')).to.deep.equal({ $ref: '#/components/schemas/ThingMade' });
    expect(dig(component('ThingMade'), 'properties', 'item')).to.deep.equal({
      $ref: '#/components/schemas/Thing',
      description: 'The new one.',
    });
    expect(dig(change, 'responses', '409')).to.deep.equal({
      $ref: '#/components/responses/ConflictOrInvalidTransition',
    });
    expect(dig(document, 'components', 'responses', 'ConflictOrInvalidTransition', 'description')).to.match(
      /^`conflict`: .+ `invalid_transition`: /,
    );
  });

  it('appends a number to a schema name that another shape uses, and describes tags', async () => {
    const of = (path: string, output: joi.Schema): RouteSpec => ({
      method: 'GET',
      path,
      summary: 'x',
      access: 'public',
      output,
      handle,
    });
    const one = withSchemaName('Same', joi.object({ a: joi.string() }));
    const other = withSchemaName('Same', joi.object({ b: joi.string() }));
    const { server } = await TestServer.create({ routes: [of('/api/a', one), of('/api/b', one), of('/api/c', other)] });
    const made = (await server.getOpenApi()) as Json;
    expect(Object.keys(dig(made, 'components', 'schemas') as Json)).to.have.members(['ErrorAnswer', 'Same', 'Same2']);
    expect(made['tags']).to.deep.equal([
      { name: 'a', description: 'a' },
      { name: 'b', description: 'b' },
      { name: 'c', description: 'c' },
    ]);
  });

  it('assigns an operation to the tag that its route names', async () => {
    const route = (path: string, tag?: string): RouteSpec => ({
      method: 'GET',
      path,
      ...(tag !== undefined && { tag }),
      summary: 'x',
      access: 'public',
      handle,
    });
    const { server } = await TestServer.create({ routes: [route('/api/{number}/store', 'sentry'), route('/api/b')] });
    const made = (await server.getOpenApi()) as Json;
    expect(dig(made, 'paths', '/api/{number}/store', 'get', 'tags')).to.deep.equal(['sentry']);
    expect(dig(made, 'paths', '/api/b', 'get', 'tags')).to.deep.equal(['b']);
  });

  const cases: [string, joi.Schema, unknown][] = [
    ['text', joi.string().min(1).max(5).pattern(/^a/), { type: 'string', minLength: 1, maxLength: 5, pattern: '^a' }],
    ['a pattern with flags', joi.string().pattern(/^a/i), { type: 'string' }],
    [
      'formats',
      joi.object({ a: joi.string().email(), b: joi.string().uri(), c: joi.string().isoDate(), d: joi.string().guid() }),
      {
        type: 'object',
        properties: {
          a: { type: 'string', format: 'email' },
          b: { type: 'string', format: 'uri' },
          c: { type: 'string', format: 'date-time' },
          d: { type: 'string', format: 'uuid' },
        },
      },
    ],
    ['null', joi.number().allow(null), { type: ['number', 'null'] }],
    [
      'a text of a kind, or an empty one',
      joi.string().min(2).max(9).uri().allow('', null),
      { type: ['string', 'null'], maxLength: 9 },
    ],
    [
      'words',
      joi.string().valid('a', 'b').default('a').description('Which.'),
      { type: 'string', enum: ['a', 'b'], default: 'a', description: 'Which.' },
    ],
    ['words and null', joi.string().valid('a', 'b', null), { type: ['string', 'null'], enum: ['a', 'b', null] }],
    // Not `const`: programs that make clients stumble over one that may be absent.
    ['a constant', joi.any().valid(1), { type: 'integer', enum: [1] }],
    ['a flag that is always true', joi.boolean().valid(true), { type: 'boolean' }],
    [
      'what a text must not hold',
      joi.string().pattern(/[<>]/, { invert: true }),
      { type: 'string', not: { pattern: '[<>]' } },
    ],
    [
      'NUL, as every engine writes it',
      joi.string().pattern(/\0/, { invert: true }),
      { type: 'string', not: { pattern: '\\u0000' } },
    ],
    ['an escaped backslash before a zero', joi.string().pattern(/\\0/), { type: 'string', pattern: '\\\\0' }],
    [
      'control characters, as every engine writes them',
      joi.string().pattern(/\p{Cc}/u, { invert: true }),
      { type: 'string', not: { pattern: '[\\u0000-\\u001F\\u007F-\\u009F]' } },
    ],
    ['no class of Unicode that engines know by different names', joi.string().pattern(/\p{Lu}/u), { type: 'string' }],
    [
      'several patterns',
      joi.string().pattern(/^a/).pattern(/z$/),
      { type: 'string', allOf: [{ pattern: '^a' }, { pattern: 'z$' }] },
    ],
    ['a list of anything', joi.array(), { type: 'array', items: {} }],
    ['one or many', joi.array().items(joi.string()).single(), { type: 'array', items: { type: 'string' } }],
    [
      'an alternative that is not listed',
      joi.alternatives(joi.string(), hideFromOpenApi(joi.array())),
      { type: 'string' },
    ],
    [
      'a closed object',
      joi.object({ a: joi.any() }).unknown(false),
      { type: 'object', properties: { a: {} }, additionalProperties: false },
    ],
    [
      'what only we know',
      withJsonSchema(
        { maxLength: 3 },
        joi.string().custom((value: string) => value),
      ),
      { type: 'string', maxLength: 3 },
    ],
    ['anything', joi.any(), {}],
    [
      'numbers',
      joi.number().greater(0).less(9).multiple(2),
      { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 9, multipleOf: 2 },
    ],
    [
      'lists',
      joi.array().items(joi.string(), joi.number()).min(1).max(3).unique(),
      {
        type: 'array',
        items: { anyOf: [{ type: 'string' }, { type: 'number' }] },
        minItems: 1,
        maxItems: 3,
        uniqueItems: true,
      },
    ],
    ['maps', joi.object().pattern(/^x/, joi.number()), { type: 'object', additionalProperties: { type: 'number' } }],
    [
      'forbidden keys',
      joi.object({ a: joi.forbidden(), b: joi.boolean() }),
      { type: 'object', properties: { b: { type: 'boolean' } } },
    ],
    [
      'alternatives',
      joi.alternatives(joi.string(), joi.number()).match('one'),
      { oneOf: [{ type: 'string' }, { type: 'number' }] },
    ],
    [
      'a limit that is a reference',
      joi.object({ a: joi.number(), b: joi.number().min(joi.ref('a')) }),
      { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
    ],
    [
      'a default that is made',
      joi.object({ a: joi.number().default(() => 1) }).default(),
      { type: 'object', properties: { a: { type: 'number' } } },
    ],
    ['examples', joi.string().example('x'), { type: 'string', examples: ['x'] }],
  ];
  for (const [name, schema, expected] of cases)
    it(`describes ${name}`, () => expect(convert(schema)).to.deep.equal(expected));
});
