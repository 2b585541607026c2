import { expect } from 'chai';
import fc from 'fast-check';
import {
  buildApiIndex,
  buildApiOperations,
  quoteForShell,
  type ApiGroup,
  type ApiOperation,
} from '../../../plugins/manual/api-docs.js';
import { buildExample, buildSchemaRows, describeType } from '../../../plugins/manual/schema.js';
import { renderFile } from '../../web/templates.js';

const document = {
  openapi: '3.1.0',
  security: [{ bearer: [] }],
  components: {
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer' },
      sharedKey: { type: 'http', scheme: 'bearer' },
      session: { type: 'apiKey', in: 'cookie', name: 'svc_session' },
      basic: { type: 'http', scheme: 'basic' },
      xSentryAuth: { type: 'apiKey', in: 'header', name: 'X-Sentry-Auth' },
      sentryKey: { type: 'apiKey', in: 'query', name: 'sentry_key' },
    },
    schemas: {
      Envelope: { type: 'object', properties: { status: { const: 'success' } }, required: ['status'] },
      Loop: { type: 'object', properties: { next: { $ref: '#/components/schemas/Loop' } }, required: ['next'] },
    },
  },
  paths: {
    '/api/things/v1/things': {
      post: {
        summary: 'Make a <thing>',
        tags: ['things'],
        security: [{ token: ['things:manage'] }, { sharedKey: [] }],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['name', 'tags'],
                properties: {
                  name: { type: 'string', maxLength: 20, examples: ["Anna's"] },
                  tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
                  note: { type: ['string', 'null'] },
                },
              },
            },
          },
        },
        responses: {
          201: {
            description: 'Made',
            content: {
              'application/json': {
                schema: {
                  allOf: [
                    { $ref: '#/components/schemas/Envelope' },
                    {
                      type: 'object',
                      properties: { thing: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } } } },
                    },
                  ],
                },
              },
            },
          },
        },
      },
    },
    '/api/things/v1/things/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: {
        summary: 'One',
        tags: ['things'],
        parameters: [
          { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 } },
        ],
        responses: {},
      },
    },
    '/api/health/live': {
      get: { summary: 'Alive', tags: ['health'], security: [], responses: { 200: { description: 'Yes' } } },
    },
  },
};

describe('API documentation', () => {
  const groups = buildApiIndex(document);
  const drawn = (i: number): ApiOperation[] =>
    buildApiOperations(document, groups[i] as ApiGroup, 'https://aos.example/');
  const [make, one] = drawn(1) as [ApiOperation, ApiOperation];

  it('groups operations by topic', () => {
    expect(groups.map(({ id, operations }) => [id, operations.length])).to.deep.equal([
      ['health', 1],
      ['things', 2],
    ]);
  });

  it('groups by the first tag, with its description', () => {
    const get = (summary: string, ...tags: string[]): object => ({ get: { summary, tags, responses: {} } });
    const tagged = {
      tags: [{ name: 'sentry', description: 'What SDKs send.' }],
      paths: {
        '/api/{number}/store': get('Store', 'sentry'),
        '/api/{number}/envelope': get('Envelope', 'sentry'),
        '/odd': get('Odd', 'Odd & ends'),
        '/none': get('None'),
      },
    };
    expect(
      buildApiIndex(tagged).map(({ id, title, text, operations }) => [id, title, text, operations.length]),
    ).to.deep.equal([
      ['odd-ends', 'Odd & ends', '', 1],
      ['other', 'other', '', 1],
      ['sentry', 'sentry', 'What SDKs send.', 2],
    ]);
  });

  it('preserves properties next to a $ref', () => {
    const named = { components: { schemas: { Kind: { type: 'string', enum: ['a'], description: 'A kind' } } } };
    const kind = '#/components/schemas/Kind';
    const rows = buildSchemaRows(
      { properties: { own: { $ref: kind, description: 'Its kind' }, plain: { $ref: kind } } },
      named,
    );
    expect(rows.map(({ text }) => text)).to.deep.equal(['Its kind · one of a', 'A kind · one of a']);
  });

  it('renders request body and response as rows', () => {
    expect(make.body?.rows).to.deep.equal([
      { name: 'name', type: 'string', required: true, text: 'at most 20 characters' },
      { name: 'tags', type: 'array of string', required: true, text: '' },
      { name: 'note', type: 'string or null', required: false, text: '' },
    ]);
    expect(make.answers[0]?.rows.map(({ name, type }) => [name, type])).to.deep.equal([
      ['status', 'success'],
      ['thing', 'object'],
      ['thing.id', 'string (uuid)'],
    ]);
  });

  it('shows the credential and the parameters of an operation', () => {
    expect(make.access).to.equal('a token with things:manage, or the shared key');
    expect(one.access).to.equal('bearer');
    expect(drawn(0)[0]?.access).to.equal('no credential');
    expect(one.parameters).to.deep.equal([
      { name: 'id', place: 'path', type: 'string', required: true, text: '' },
      { name: 'limit', place: 'query', type: 'integer', required: false, text: 'from 1, to 200, default 50' },
    ]);
  });

  it('generates a command that works in a shell unchanged', () => {
    expect(make.curl).to.equal(
      `curl -X POST https://aos.example/api/things/v1/things \\\n  -H "Authorization: Bearer $SVC_TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"Anna'\\''s","tags":["a"]}'`,
    );
    expect(drawn(0)[0]?.curl).to.equal('curl https://aos.example/api/health/live');
  });

  it('places the credential where the operation expects it', () => {
    const curl = (...security: object[]): string | undefined => {
      const paths = { '/api/1/store': { get: { summary: 'x', tags: ['x'], security, responses: {} } } };
      const requested = { ...document, paths };
      return buildApiOperations(requested, buildApiIndex(requested)[0] as ApiGroup, 'https://aos.example')[0]?.curl;
    };
    const at = 'curl https://aos.example/api/1/store';
    expect(curl({ xSentryAuth: [] }, { sentryKey: [] })).to.equal(`${at}"?sentry_key=$AOS_INTAKE_KEY"`);
    expect(curl({ xSentryAuth: [] })).to.equal(`${at} \\\n  -H "X-Sentry-Auth: $AOS_INTAKE_KEY"`);
    expect(curl({ basic: [] })).to.equal(`${at} \\\n  -u "$AOS_USER:$AOS_PASSWORD"`);
    expect(curl({ session: ['admin'] })).to.equal(`${at} \\\n  -b "svc_session=$AOS_SESSION"`);
    expect(curl({ sharedKey: [] })).to.equal(`${at} \\\n  -H "Authorization: Bearer $SVC_SHARED_KEY"`);
    expect(curl({ token: [] }, { sharedKey: [] })).to.equal(`${at} \\\n  -H "Authorization: Bearer $SVC_TOKEN"`);
  });

  it('terminates on self-referencing schemas', () => {
    const schema = { $ref: '#/components/schemas/Loop' };
    expect(buildSchemaRows(schema, document).length).to.be.within(1, 10);
    expect(JSON.stringify(buildExample(schema, document)).length).to.be.lessThan(200);
    const knot = { components: { schemas: { A: { $ref: '#/components/schemas/A' } } } };
    expect(describeType({ $ref: '#/components/schemas/A' }, knot)).to.equal('any');
  });

  it('never throws, for any description', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (schema, responses) => {
        const odd = {
          paths: {
            '/api/x': {
              get: { requestBody: { content: { 'application/json': { schema } } }, responses, parameters: [schema] },
            },
          },
        };
        const [group] = buildApiIndex(odd);
        expect(buildApiOperations(odd, group as ApiGroup, 'http://x')).to.have.length(1);
      }),
    );
  });

  it('quotes values for the shell as a single word without expansion', () => {
    expect(quoteForShell('a b')).to.equal(`'a b'`);
    fc.assert(
      fc.property(fc.string(), (text) => {
        const quoted = quoteForShell(text);
        expect(quoted.replaceAll(`'\\''`, `'`).replace(/^'|'$/g, '')).to.equal(
          quoted === text ? text.replace(/^'|'$/g, '') : text,
        );
      }),
    );
  });

  it('renders escaped HTML with a single h1 and every path', () => {
    const index = renderFile('plugins/manual/views/api.hbs', { groups, base_url: 'https://aos.example' });
    for (const path of Object.keys(document.paths)) expect(index).to.include(path);
    expect(index).to.include('Make a &lt;thing&gt;').and.include(`href="/docs/api/things#${make.id}"`);
    const detail = renderFile('plugins/manual/views/api-group.hbs', {
      groups,
      group: { ...groups[1], operations: drawn(1) },
    });
    expect(detail).to.include(`id="${make.id}"`).and.include('thing.id').and.include('Anna&#x27;');
    expect(detail.match(/<h1/g)).to.have.length(1);
  });
});
