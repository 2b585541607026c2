/**
 * Error codes of plugins: what a manifest declares is answered and described, and nothing else is
 * answered.
 */
import { join } from 'node:path';
import { expect } from 'chai';
import { findPackageRoot } from '../../config/load.js';
import {
  definePlugin,
  refusals,
  refuse,
  ServiceError,
  type Plugin,
  type RouteSpec,
} from '../../kernel/contract/index.js';
import { boot, type TestService } from '../kit/index.js';
import { getRejection } from '../harness.js';

const ERRORS = { oncall_overlap: [409, 'Another shift has this time.'] } as const;
const refusal = refusals(ERRORS);

const throwing = (name: string, error: () => Error, errors?: readonly string[]): RouteSpec => ({
  method: 'GET',
  path: `/api/oncall/v1/${name}`,
  operationId: name,
  summary: name,
  access: 'public',
  ...(errors && { errors }),
  handle: () => {
    throw error();
  },
});

const plugin = (id: string, routes: readonly RouteSpec[], more: Partial<Plugin> = {}): Plugin =>
  definePlugin({
    id,
    version: '1.0.0',
    api: 1,
    title: id,
    from: join(findPackageRoot(), 'test', 'fixtures', 'web-plugin', 'plugin.js'),
    setup: () => ({
      routes,
      pages: [
        {
          path: `/${id}`,
          title: id,
          access: 'public',
          handle: () => {
            throw refuse(409, `${id}_undeclared`, 'It goes wrong.');
          },
        },
      ],
    }),
    ...more,
  });

describe('error codes of plugins', () => {
  let service: TestService;
  before(async () => {
    service = await boot([
      plugin(
        'oncall',
        [
          throwing('overlap', () => refusal('oncall_overlap', 'Ada has it.', { fields: { from: 'is taken' } }), [
            'oncall_overlap',
          ]),
          throwing('typo', () => refuse(409, 'oncall_overlp', 'Ada has it.')),
          throwing('status', () => refuse(422, 'oncall_overlap', 'Ada has it.')),
          throwing('known', () => refuse(418, 'conflict', 'Ada has it.')),
          throwing('service', () => new ServiceError('conflict', 'Ada has it.')),
        ],
        { errors: ERRORS },
      ),
      plugin('mirror', [{ ...throwing('other', () => refusal('oncall_overlap', 'Ada has it.'), ['oncall_overlap']) }]),
    ]);
  });
  after(() => service.stop());
  const ask = (name: string) => service.request('GET', `/api/oncall/v1/${name}`);

  it('returns the declared status of a code, also from a plugin that calls the declaring plugin', async () => {
    expect(await ask('overlap')).to.include({ status: 409, code: 'oncall_overlap' });
    expect((await ask('overlap')).fields).to.deep.equal({ from: 'is taken' });
    expect(await ask('other')).to.include({ status: 409, code: 'oncall_overlap' });
    expect(await ask('service')).to.include({ status: 409, code: 'conflict' });
  });

  for (const [name, says] of [
    ['typo', /plugin oncall .*"oncall_overlp" .*409: add it to `errors` of its manifest/],
    ['status', /plugin oncall .*"oncall_overlap" .*422: it is declared with 409/],
    ['known', /plugin oncall .*"conflict" .*418: it is declared with 409/],
  ] as const) {
    it(`${name}: logs an explanation for another code or status, and returns 500`, async () => {
      service.log.lines.length = 0;
      const answer = await ask(name);
      expect(answer).to.include({ status: 500, code: 'internal_error' });
      expect(JSON.stringify(answer.body)).not.to.include('Ada');
      expect(service.log.lines.map(({ message }) => message).join('\n')).to.match(says);
    });
  }

  it('returns the declared status on a page as well', async () => {
    service.log.lines.length = 0;
    expect((await service.request('GET', '/mirror')).status).to.equal(500);
    expect(service.log.lines.map(({ message }) => message).join('\n')).to.include('"mirror_undeclared"');
  });

  it('are listed in openapi.json, at the route and in the catalog', async () => {
    const document = (await service.openapi()) as {
      paths: Record<string, { get: { responses: Record<string, { $ref: string }> } }>;
      components: { responses: Record<string, { description: string }> };
      'x-error-codes': Record<string, object>;
    };
    const at = document.paths['/api/oncall/v1/overlap']?.get.responses['409']?.$ref.split('/').at(-1) ?? '';
    expect(document.components.responses[at]?.description).to.equal('`oncall_overlap`: Another shift has this time.');
    expect(document['x-error-codes']['oncall_overlap']).to.deep.equal({
      status: 409,
      description: 'Another shift has this time.',
    });
    expect(document['x-error-codes']).to.have.property('not_found');
  });

  it('fails a plugin at the start when its route names an undeclared code', async () => {
    const wrong = plugin('oncall', [throwing('x', () => new Error('x'), ['oncall_nothing'])]);
    expect((await getRejection(boot([wrong]))).message).to.match(/oncall_nothing: neither an error code/);
  });
});
