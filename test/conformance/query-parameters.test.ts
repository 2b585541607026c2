/** Unknown query parameters, on every route (contract 00, amendments). */
import { expect } from 'chai';
import type { RouteSpec } from '../../ports/http/index.js';
import { BUILTIN } from '../../config/compose/compose.js';
import { bootTestKernel } from '../harness.js';
import { ADMIN_ACCOUNT, TestService } from '../support/service.js';

/** Addresses that clients of other services call with parameters of their own. */
const FOREIGN = /^\/(v1|mcp|ping|api\/push)\b|^\/api\/\{number\}\/|^\/api\/0\/|\/forges\/\{forge\}/;
const LICENSE_VALIDATE = '/api/license/v1/validate';

describe('unknown query parameters', () => {
  let service: TestService;
  let specs: RouteSpec[];
  let token: string;

  before(async () => {
    const access = { admin_user: ADMIN_ACCOUNT.username, admin_password: ADMIN_ACCOUNT.password };
    const made = await bootTestKernel(BUILTIN, { sections: { auth: access } });
    specs = made.kernel.listRoutes().map(({ spec }) => spec);
    await made.stop();
    service = await TestService.createInProcess();
    token = await service.createToken('updateservice:publish,bugtracker:report');
  });
  after(() => service.dispose());

  const methodsOf = (spec: RouteSpec): string[] => [spec.method].flat();
  const isList = ({ input }: RouteSpec): boolean => {
    const keys = (input?.query?.describe() as { keys?: object } | undefined)?.keys ?? {};
    return 'cursor' in keys || 'limit' in keys;
  };

  it('are rejected by every write operation', () => {
    const lenient = specs
      .filter((spec) => methodsOf(spec).some((method) => !['GET', 'HEAD'].includes(method)))
      .filter(({ strictQuery, plain }) => strictQuery === false || plain === true)
      .map(({ path }) => path)
      .filter((path) => !FOREIGN.test(path));
    expect([...new Set(lenient)]).to.deep.equal([LICENSE_VALIDATE]);
  });

  it('are rejected by every list', () => {
    const lenient = specs.filter(
      (spec) => methodsOf(spec).includes('GET') && isList(spec) && spec.strictQuery !== true,
    );
    expect(lenient.map(({ path }) => path)).to.deep.equal([]);
  });

  for (const [name, path] of [
    ['publish', '/api/updateservice/v1/publish?product=shop&version=1.0.0&channel=stable&rolloutpercent=10'],
    ['rollout', '/api/updateservice/v1/rollout?percent=10'],
    ['report', '/api/errors/v1/report?projct=shop'],
  ] as const)
    it(`return 400 with their name for ${name} (S05)`, async () => {
      const answer = await fetch(service.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{}',
      });
      const body = (await answer.json()) as { error: { code: string; fields: Record<string, string> } };
      expect([answer.status, body.error.code]).to.deep.equal([400, 'invalid_request']);
      expect(Object.values(body.error.fields)[0]).to.match(/^is not a parameter of this path; (allowed: |it has none)/);
    });

  for (const path of ['/api/license/v1/pubkey?formt=pem', '/api/updateservice/v1/freshness?product=x&channl=a'])
    it(`are ignored and named in warnings by ${path}`, async () => {
      const answer = await fetch(service.url + path);
      if (answer.status === 404) return;
      const body = (await answer.json()) as { warnings?: string[] };
      expect(body.warnings?.[0]).to.match(/^(formt|channl) is not a parameter of this path and was ignored$/);
    });
});
