/**
 * Giving an item back, and what a 409 about a lease says (contract 20, leases and next). Over HTTP,
 * on every engine.
 */
import { expect } from 'chai';
import { httpOf, MANAGE, OTHER, type AskFreely } from '../http.js';
import { ENGINES, report, settled, fixtureOn, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

interface Refused {
  code: string;
  why?: string;
  claim?: { agent: string; yours: boolean };
}
const errorOf = (body: Record<string, unknown>): Refused => body['error'] as Refused;

for (const engine of ENGINES) {
  describe(`bugs: release on ${engine.name}`, () => {
    let fixture: Fixture;
    let ask: AskFreely;

    useStore(
      engine,
      async (store) => {
        fixture = fixtureOn(store);
        ask = await httpOf(fixture);
      },
      { end: () => settled(fixture) },
    );

    const make = async (title: string, severity: 'low' | 'critical' = 'low'): Promise<string> =>
      (await fixture.bugs.record(report({ title, severity }))).ref;

    const next = async (agent = 'a', bearer = MANAGE, query = ''): Promise<{ ref: string; token: string } | null> => {
      const { status, body } = await ask('POST', `/bugs?action=next${query}`, { agent }, { bearer });
      expect(status).to.equal(200);
      const { item, lease } = body as { item: { ref: string } | null; lease?: { claim_token: string } };
      return item === null ? null : { ref: item.ref, token: lease?.claim_token ?? '' };
    };
    const release = (ref: string, claim_token: string, more: object = {}) =>
      ask('POST', `/bugs/${ref}/release`, { claim_token, ...more });

    it('skips the item for 24 hours only for the agent that released it', async () => {
      const forged = await make('Forged', 'critical');
      const real = await make('Real');
      const first = await next();
      expect(first?.ref).to.equal(forged);
      const released = await release(forged, first?.token ?? '', { reason: 'not for me' });
      expect([released.status, (released.body['item'] as { status: string }).status]).to.deep.equal([200, 'open']);
      expect((await next())?.ref).to.equal(real);
      expect(await next()).to.equal(null);
      // A search with words has alternatives of its own.
      expect(await next('a', MANAGE, '&q=forged&q=real')).to.equal(null);
      expect((await next('b'))?.ref).to.equal(forged);
      expect((await release(forged, 'x'.repeat(43))).status).to.equal(409);
      fixture.clock.advance(3_600_000);
      expect((await next('a', OTHER))?.ref, 'the lease of b ran out').to.equal(forged);
      fixture.clock.advance(24 * 3_600_000);
      expect((await next())?.ref).to.equal(forged);
    });

    it('returns a blocked item to its holder when the blocker is finished', async () => {
      const blocked = await make('Blocked', 'critical');
      const blocker = await make('Blocker');
      const first = await next('a', MANAGE, '&severity=critical');
      expect(first?.ref).to.equal(blocked);
      const claim_token = first?.token ?? '';
      const linked = await ask('POST', `/bugs/${blocked}/links`, { kind: 'blocked_by', ref: blocker, claim_token });
      expect(linked.status).to.equal(201);
      expect((await release(blocked, claim_token, { reason: 'waits for the other' })).status).to.equal(200);
      expect(await next('a', MANAGE, '&severity=critical')).to.equal(null);
      const second = await next('b');
      expect(second?.ref).to.equal(blocker);
      await ask('PATCH', `/bugs/${blocker}`, { status: 'resolved', claim_token: second?.token });
      expect((await next('a'))?.ref).to.equal(blocked);
    });

    it('skips an item assigned to a user, unless requested explicitly', async () => {
      const taken = await make('Taken', 'critical');
      const free = await make('Free');
      await ask('PATCH', `/bugs/${taken}`, { assignee: 'alice' });
      expect((await next())?.ref).to.equal(free);
      const { body } = await ask('POST', '/bugs?action=next', { agent: 'a' });
      expect(body).to.deep.include({
        item: null,
        waiting: { reserved: 1, on_hold: 0, blocked: 0, released_by_you: 0, for_others: 1, muted: 0 },
      });
      const byRef = await next('a', MANAGE, `&q=${taken}`);
      expect(byRef?.ref).to.equal(taken);
      await release(taken, byRef?.token ?? '');
      expect((await next('b', MANAGE, '&assignee=alice'))?.ref).to.equal(taken);
    });

    it('stores the reason and the comment atomically with the change', async () => {
      const ref = await make('A');
      const held = await next();
      const lost = await release(ref, 'x'.repeat(43), { comment: 'never stored' });
      expect([lost.status, errorOf(lost.body).code]).to.deep.equal([409, 'lease_lost']);
      await release(ref, held?.token ?? '', { reason: 'needs a Mac', comment: 'How far I came.' });
      const { body } = await ask('GET', `/bugs/${ref}`);
      const { comments, activity } = body as { comments: { body: string }[]; activity: { data: object }[] };
      expect(comments.map((comment) => comment.body)).to.deep.equal(['How far I came.']);
      expect(activity.map(({ data }) => data)).to.deep.include({
        from: 'in_progress',
        to: 'open',
        why: 'released',
        reason: 'needs a Mac',
      });
      const long = await release(ref, 'x', { reason: 'r'.repeat(501) });
      expect([long.status, errorOf(long.body).code]).to.deep.equal([422, 'validation_failed']);
    });

    it('sets needs_info after three releases without a status change', async () => {
      const ref = await make('A');
      const status = async (): Promise<unknown> =>
        ((await ask('GET', `/bugs/${ref}`)).body['item'] as { status: string }).status;
      for (const agent of ['a', 'b']) {
        await release(ref, (await next(agent))?.token ?? '');
        expect(await status()).to.equal('open');
      }
      await release(ref, (await next('c'))?.token ?? '');
      expect(await status()).to.equal('needs_info');
      // Answered: the count begins again.
      await ask('PATCH', `/bugs/${ref}`, { status: 'open' });
      await release(ref, (await next('d'))?.token ?? '');
      expect(await status()).to.equal('open');
    });

    it('restarts the count when the status changes in between', async () => {
      const ref = await make('A');
      for (const agent of ['a', 'b']) await release(ref, (await next(agent))?.token ?? '');
      await ask('PATCH', `/bugs/${ref}`, { status: 'resolved' });
      await ask('PATCH', `/bugs/${ref}`, { status: 'open' });
      await release(ref, (await next('c'))?.token ?? '');
      expect(((await ask('GET', `/bugs/${ref}`)).body['item'] as { status: string }).status).to.equal('open');
    });

    it('returns why a token is invalid and who holds the item', async () => {
      const why = async (ref: string, claim_token: string): Promise<(string | boolean | undefined)[]> => {
        const { body } = await ask('POST', `/bugs/${ref}/renew`, { claim_token });
        const { code, why: reason, claim } = errorOf(body);
        expect(code).to.equal('lease_lost');
        return [reason, claim?.yours];
      };
      const claim = async (ref: string, bearer = MANAGE): Promise<string> => {
        const { body } = await ask('POST', `/bugs/${ref}/claim`, { agent: 'a' }, { bearer });
        return (body['lease'] as { claim_token: string }).claim_token;
      };
      const expired = await make('Expired');
      const expiredToken = await claim(expired);
      fixture.clock.advance(1_800_001);
      expect(await why(expired, expiredToken)).to.deep.equal(['expired', undefined]);
      await fixture.jobs.sweep();
      expect(await why(expired, expiredToken)).to.deep.equal(['expired', undefined]);
      await claim(expired, OTHER);
      expect(await why(expired, expiredToken)).to.deep.equal(['taken', false]);

      const released = await make('Released');
      const releasedToken = await claim(released);
      await release(released, releasedToken);
      expect(await why(released, releasedToken)).to.deep.equal(['released', undefined]);

      const resolved = await make('Resolved');
      const resolvedToken = await claim(resolved);
      await ask('PATCH', `/bugs/${resolved}`, { status: 'resolved', claim_token: resolvedToken });
      expect(await why(resolved, resolvedToken)).to.deep.equal(['resolved', undefined]);

      const again = await make('Claimed again');
      const oldToken = await claim(again);
      await claim(again);
      expect(await why(again, oldToken)).to.deep.equal(['taken', true]);

      const forced = await make('Forced');
      const forcedToken = await claim(forced);
      await ask('PATCH', `/bugs/${forced}`, { status: 'open', force: true, reason: 'mine' }, { bearer: OTHER });
      expect(await why(forced, forcedToken)).to.deep.equal(['taken', undefined]);

      expect(await why(forced, 'x'.repeat(43))).to.deep.equal(['unknown', undefined]);
    });

    it('reports that the live lease belongs to the caller', async () => {
      const ref = await make('A');
      await ask('POST', `/bugs/${ref}/claim`, { agent: 'a' });
      const refusal = async (method: string, path: string, body: object, bearer = MANAGE): Promise<unknown> => {
        const answer = await ask(method, `/bugs/${ref}${path}`, body, { bearer });
        expect([answer.status, errorOf(answer.body).code]).to.deep.equal([409, 'already_claimed']);
        return errorOf(answer.body).claim?.yours;
      };
      expect(await refusal('PATCH', '', { title: 'x' })).to.equal(true);
      expect(await refusal('PATCH', '', { title: 'x' }, OTHER)).to.equal(false);
      expect(await refusal('POST', '/claim', { agent: 'b' })).to.equal(false);
      expect(await refusal('POST', '/claim', {})).to.equal(true);
      expect(await refusal('POST', '/claim', { agent: 'a' }, OTHER)).to.equal(false);
    });
  });
}
