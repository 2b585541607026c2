/** The rollback of a channel over HTTP (contract 97, rollback). */
import { expect } from 'chai';
import { StoreFixture } from './store-fixture.js';

interface RollbackBody {
  status: string;
  error?: { code: string; fields?: object };
  release: object;
  withdrawn: object[];
  rollback: object | null;
  unchanged: boolean;
}

const API = '/api/updateservice/v1';

describe('releases: POST /rollback', function () {
  let fixture: StoreFixture;
  const tokens = new Map<string, string>();

  before(async () => {
    fixture = await StoreFixture.open();
    for (const version of ['1.0', '1.1', '1.2']) await fixture.publish({ version });
    await fixture.command('project create', {}, '', ['blog']);
    for (const [name, scopes, project] of [
      ['ci', 'updateservice:publish', 'shop'],
      ['blog', 'updateservice:publish', 'blog'],
      ['reader', 'projects:manage', 'shop'],
    ] as const) {
      const made = await fixture.command('token create', { name: `${name}-${project}`, scopes, project });
      tokens.set(name, (made.json as { token: string }).token);
    }
  });
  after(() => fixture.stop());

  async function post(body: unknown, by = 'ci'): Promise<{ status: number; body: RollbackBody }> {
    const answer = await fetch(`${fixture.base}${API}/rollback`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.get(by) ?? ''}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as RollbackBody };
  }

  const valid = { product: 'shop', channel: 'stable', to: '1.0', reason: 'bad' };
  const faults: [what: string, change: object, status: number, code: string, field: string | null][] = [
    ['has no version', { to: undefined }, 422, 'validation_failed', 'to'],
    ['has a malformed version', { to: 'latest' }, 422, 'validation_failed', 'to'],
    ['has no product', { product: undefined }, 422, 'validation_failed', 'product'],
    ['has a malformed channel', { channel: '../x' }, 422, 'validation_failed', 'channel'],
    ['has an unknown platform', { platform: 'amiga' }, 422, 'validation_failed', 'platform'],
    ['has no reason', { reason: undefined }, 422, 'reason_required', 'reason'],
    ['has an empty reason', { reason: '  ' }, 422, 'reason_required', 'reason'],
    ['has a reason that is too long', { reason: 'x'.repeat(1_001) }, 422, 'validation_failed', 'reason'],
    ['names a missing release', { to: '3.0' }, 404, 'not_found', null],
    ['names a channel without releases', { channel: 'beta' }, 404, 'not_found', null],
    ['names a platform without this release', { platform: 'win-x64' }, 404, 'not_found', null],
  ];
  for (const [what, change, status, code, field] of faults)
    it(`answers ${status} ${code} to a body that ${what}`, async () => {
      const answer = await post({ ...valid, ...change });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
      expect(answer.body.error).to.include({ code });
      if (field !== null) expect(answer.body.error?.fields).to.have.property(field);
    });

  it('answers 403 to a token of another project or scope, and 401 without one', async () => {
    expect((await post(valid, 'blog')).status).to.equal(403);
    expect((await post(valid, 'reader')).status).to.equal(403);
    expect((await post(valid, 'nobody')).status).to.equal(401);
  });

  it('answers with the releases and the rollback of the freshness statement', async () => {
    const { status, body } = await post(valid);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.deep.include({ status: 'success', unchanged: false });
    expect(body.release).to.include({ version: '1.0', rolled_back: false, withdrawn_at: null });
    expect(body.withdrawn).to.have.length(2);
    for (const one of body.withdrawn) expect(one).to.include({ rolled_back: true, withdrawn_reason: 'bad' });
    expect(body.rollback).to.include({ from: '1.2', to: '1.0' });
    const again = await post(valid);
    expect(again.body).to.deep.include({ unchanged: true, rollback: body.rollback, withdrawn: [] });
    expect((await post({ ...valid, to: '1.2' })).body.error).to.include({ code: 'conflict' });
  });
});
