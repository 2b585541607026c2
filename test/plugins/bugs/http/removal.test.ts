/** `DELETE /bugs/{id}` over HTTP (contract 20, endpoints). */
import { expect } from 'chai';
import { error, Fixture } from '../../errorstream/fixture.js';

const MANAGE = 'master:bugtracker:manage';
const BASE = '/api/bugtracker/v1/bugs';

describe('bugs: DELETE /bugs/{id}', () => {
  let fixture: Fixture;
  let ref: string;
  beforeEach(async () => {
    fixture = await Fixture.create();
    ref = (await fixture.post(error())).body['ref'] as unknown as string;
  });
  afterEach(() => fixture.stop());

  const remove = (query = '', json?: object) =>
    fixture.server.ask('DELETE', `${BASE}/${ref}${query}`, { bearer: MANAGE, ...(json && { json }) });

  it('returns deleted, and then 404', async () => {
    const answer = await remove();
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({ status: 'success', deleted: true });
    expect((await remove()).status).to.equal(404);
    expect((await fixture.post(error())).status).to.equal(201);
  });

  const FORCED: readonly { name: string; query: string; json?: object }[] = [
    { name: 'in its body', query: '', json: { force: true, reason: 'personal data' } },
    { name: 'in its query', query: '?force=true&reason=personal%20data' },
  ];
  for (const { name, query, json } of FORCED) {
    it(`accepts the lease override ${name}`, async () => {
      await fixture.server.ask('POST', `${BASE}/${ref}/claim`, { bearer: MANAGE, json: { agent: 'a' } });
      expect((await remove()).body['error']).to.include({ code: 'already_claimed' });
      expect((await remove(query, json)).status).to.equal(200);
    });
  }

  it('is denied to tokens with bugtracker:report only', async () => {
    const answer = await fixture.server.ask('DELETE', `${BASE}/${ref}`, { bearer: 'master:bugtracker:report' });
    expect(answer.status).to.equal(403);
  });
});
