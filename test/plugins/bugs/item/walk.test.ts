/**
 * Every change of status that somebody could ask for, over HTTP: from each status, by each means,
 * to each status that means could lead to, against the table of contract 20 written out by hand.
 * What is refused changes nothing.
 */
import { expect } from 'chai';
import type { Item, ItemStatus } from '../../../../ports/domain/bugs.js';
import type { Asked } from '../../../adapters/hapi/support.js';
import { httpOf, OTHER, REPORT, type Ask } from '../http.js';
import { ENGINES, settled, fixtureOn, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

const STATUSES: readonly ItemStatus[] = [
  'open',
  'in_progress',
  'needs_info',
  'resolved',
  'closed',
  'wont_fix',
  'duplicate',
];

/** What each means could lead to. */
const TARGETS = {
  patch: STATUSES,
  bulk: STATUSES,
  claim: ['in_progress'],
  next: ['in_progress'],
  release: ['open'],
  expiry: ['open'],
  publish: ['closed'],
  occurrence: ['open'],
  merge: ['duplicate'],
  split: ['open'],
} as const satisfies Record<string, readonly ItemStatus[]>;
type Means = keyof typeof TARGETS;

const AT_WORK: readonly ItemStatus[] = ['open', 'in_progress', 'needs_info'];

/** Contract 20, transitions. `action=next` serves open items alone (contract 20, leases). */
const ALLOWED: readonly [from: readonly ItemStatus[], to: ItemStatus, by: readonly Means[]][] = [
  [['open', 'needs_info'], 'in_progress', ['claim']],
  [['open'], 'in_progress', ['next']],
  [['in_progress'], 'open', ['release', 'expiry', 'patch', 'bulk']],
  [['needs_info'], 'open', ['patch', 'bulk']],
  [['open', 'in_progress'], 'needs_info', ['patch', 'bulk']],
  [AT_WORK, 'resolved', ['patch', 'bulk']],
  [[...AT_WORK, 'resolved'], 'closed', ['patch', 'bulk', 'publish']],
  [AT_WORK, 'wont_fix', ['patch', 'bulk']],
  [AT_WORK, 'duplicate', ['patch', 'bulk', 'merge']],
  [['resolved', 'closed'], 'open', ['patch', 'bulk', 'occurrence']],
  [['wont_fix', 'duplicate'], 'open', ['patch', 'bulk']],
  [['duplicate'], 'open', ['split']],
];

/** `moved`; `kept`: no transition, and no fault either; `refused`. */
type Verdict = 'moved' | 'kept' | 'refused';

function verdict(from: ItemStatus, to: ItemStatus, by: Means): Verdict {
  if (ALLOWED.some(([froms, target, means]) => target === to && froms.includes(from) && means.includes(by)))
    return 'moved';
  const same = from === to && to !== 'in_progress';
  return same && ['patch', 'bulk', 'merge'].includes(by) ? 'kept' : 'refused';
}

function describeVerdict(from: ItemStatus, to: ItemStatus, by: Means): string {
  const found = verdict(from, to, by);
  if (found === 'kept') return `${by} leaves an item in ${from}`;
  return `${by} ${found === 'moved' ? 'changes' : 'does not change'} ${from} to ${to}`;
}

/** Means that nobody asked for: where they may do nothing, nobody is told so. */
const SILENT: ReadonlySet<Means> = new Set<Means>(['next', 'expiry', 'publish', 'occurrence']);
const REFUSAL: Partial<Record<Means, string>> = { release: 'lease_lost' };

interface Case {
  item: Item;
  token: string;
  /** Made where something is said to duplicate it. */
  target: Item | null;
  build: string;
}

for (const engine of ENGINES) {
  describe(`bugs: every transition over HTTP on ${engine.name}`, function () {
    let fixture: Fixture;
    let ask: Ask;
    let n = 0;

    useStore(
      engine,
      async (store) => {
        fixture = fixtureOn(store);
        ask = await httpOf(fixture);
      },
      { end: () => settled(fixture), once: true },
    );

    const fine = async (requested: Promise<Asked>): Promise<Asked['body']> => {
      const answer = await requested;
      expect(answer.status, answer.text).to.be.oneOf([200, 201]);
      return answer.body;
    };
    const sent = (title: string, tag: string) => ({
      project: 'alpha',
      type: 'error',
      title,
      exception_class: title,
      error_message: 'it breaks',
      tags: [tag],
    });
    const create = async (title: string, tag: string): Promise<Item> =>
      (await fine(ask('POST', '/report', sent(title, tag), { bearer: REPORT })))['item'] as unknown as Item;
    const patch = (id: string, body: object) => ask('PATCH', `/bugs/${id}`, body);

    /** A fresh item, brought into the status over HTTP. */
    async function prepare(by: Means, from: ItemStatus, to: ItemStatus): Promise<Case> {
      n += 1;
      const item = await create(`Walk${word(n)}`, `tag-${n}`);
      const duplicates = by === 'merge' || [from, to].includes('duplicate');
      const target = duplicates ? await create(`Target${word(n)}`, `target-${n}`) : null;
      let token = 'a token of long ago';
      if (from === 'in_progress') {
        const { lease } = await fine(ask('POST', `/bugs/${item.id}/claim`, { agent: 'walker', lease_seconds: 60 }));
        token = lease?.['claim_token'] as unknown as string;
      } else if (from !== 'open') {
        await fine(patch(item.id, { status: from, reason: 'to begin with', duplicate_of: only(from, target) }));
      }
      return { item, target, token, build: `9.${n}` };
    }
    const only = (status: ItemStatus, target: Item | null): string | undefined =>
      status === 'duplicate' ? target?.id : undefined;

    const others = { title: 'Changed', tags: ['changed'], severity: 'critical', description: 'Changed' };

    async function move(by: Means, from: ItemStatus, to: ItemStatus, at: Case): Promise<Asked | null> {
      const { item, target, token, build } = at;
      const lease = from === 'in_progress' ? { claim_token: token } : {};
      const set = { ...others, ...lease, status: to, reason: 'walked', duplicate_of: only(to, target) };
      switch (by) {
        case 'patch':
          return patch(item.id, set);
        case 'bulk':
          return ask('POST', '/bugs/bulk', { ids: [item.ref], set });
        case 'claim':
          return ask('POST', `/bugs/${item.id}/claim`, { agent: 'another' }, { bearer: OTHER });
        case 'next':
          return ask('GET', `/bugs?action=next&tag=${item.tags[0]}`);
        case 'release':
          return ask('POST', `/bugs/${item.id}/release`, { claim_token: token });
        case 'expiry':
          fixture.clock.advance(60_000);
          return ask('GET', `/bugs?tag=${item.tags[0]}`);
        case 'publish': {
          const data = { product: 'alpha', version: build, build: null, channel: 'stable', platform: 'any' };
          const rest = { signed: false, closed_items: [], closed_count: 0 };
          const event = { id: `evt_${build}`, event: 'release.published', timestamp: '', project_slug: 'alpha' };
          await fixture.bugs.handleReleasePublished({ ...event, data: { ...data, ...rest } });
          return null;
        }
        case 'occurrence':
          fixture.clock.advance(61_000);
          return ask('POST', '/report', sent(item.title, item.tags[0] ?? ''), { bearer: REPORT });
        case 'merge':
          return ask('POST', `/bugs/${item.id}/merge`, { into: target?.ref, ...lease });
        case 'split':
        default:
          return ask('POST', `/bugs/${item.id}/split`, {});
      }
    }

    const detail = async (id: string) => {
      await settled(fixture);
      const body = await fine(ask('GET', `/bugs/${id}`));
      return { item: body['item'] as unknown as Item, parts: [body['comments'], body['activity']] };
    };

    async function check(by: Means, from: ItemStatus, to: ItemStatus): Promise<void> {
      const expected = verdict(from, to, by);
      const at = await prepare(by, from, to);
      // What a publish closes waits for its version.
      if (by === 'publish')
        await fine(
          patch(at.item.id, { resolved_in_build: at.build, ...(from === 'in_progress' && { claim_token: at.token }) }),
        );
      const before = await detail(at.item.id);
      const doc = await fixture.deps.items.get(at.item.id);
      expect(before.item.status).to.equal(from);
      fixture.told.length = 0;
      const answer = await move(by, from, to, at);
      const now = await detail(at.item.id);

      if (expected === 'refused') {
        if (SILENT.has(by)) expect(answer?.status ?? 200).to.equal(200);
        else if (by === 'bulk') {
          expect(answer?.status).to.equal(207);
          expect(answer?.body['updated']).to.equal(0);
          expect(answer?.body['results']?.[0]?.['error']?.['code']).to.equal('invalid_transition');
        } else {
          const claimed = by === 'claim' && from === 'in_progress' ? 'already_claimed' : undefined;
          expect([answer?.status, answer?.code]).to.deep.equal([409, claimed ?? REFUSAL[by] ?? 'invalid_transition']);
        }
        if (by === 'occurrence') return checkCounted(at, before.item, now.item);
        if (by === 'expiry' || by === 'next') expect(now.item.status).to.equal(from);
        expect(now).to.deep.equal(before);
        expect(await fixture.deps.items.get(at.item.id)).to.deep.equal(doc);
        expect(fixture.told).to.deep.equal([]);
        return;
      }
      if (answer !== null) expect(answer.status, answer.text).to.equal(200);
      expect(now.item.status).to.equal(to);
      if (by === 'patch' || by === 'bulk') expect(now.item).to.include({ title: 'Changed', severity: 'critical' });
      if (expected === 'moved') checkMoved(by, from, to, before.item, now.item);
    }

    /**
     * An occurrence that reopens nothing is counted, where the item is or at what it duplicates.
     */
    async function checkCounted(at: Case, before: Item, now: Item): Promise<void> {
      const here = before.status !== 'duplicate';
      // The lease of what is in progress may have run out meanwhile.
      if (before.status !== 'in_progress') expect([now.status, now.rev]).to.deep.equal([before.status, before.rev]);
      expect(now.hit_count).to.equal(before.hit_count + (here ? 1 : 0));
      if (at.target === null) expect(here).to.equal(true);
      else expect((await detail(at.target.id)).item.hit_count).to.equal(2);
    }

    function checkMoved(by: Means, from: ItemStatus, to: ItemStatus, before: Item, now: Item): void {
      expect(now.rev).to.equal(before.rev + 1);
      expect(now.updated_at >= before.updated_at).to.equal(true);
      expect(now.claim !== null).to.equal(to === 'in_progress');
      expect(now.claim_count).to.equal(before.claim_count + (to === 'in_progress' ? 1 : 0));
      if (to === 'resolved') expect(now.resolved_at).to.be.a('string');
      if (to === 'closed') expect(now.closed_at).to.be.a('string');
      const fixed = (to === 'resolved' || to === 'closed') && from !== 'resolved';
      expect(fixture.told.filter(({ event }) => event === 'bug.resolved')).to.have.lengthOf(fixed ? 1 : 0);
      const final = !AT_WORK.includes(from);
      if (to !== 'open' || !final) return;
      expect(now).to.include({ resolved_in_build: null, resolved_at: null, closed_at: null, duplicate_of: null });
      const regressed = by === 'occurrence';
      expect(now).to.include({ regression: regressed, regression_count: regressed ? 1 : 0 });
      expect(now.reopened_at !== null).to.equal(!regressed);
    }

    for (const by of Object.keys(TARGETS) as Means[]) {
      for (const from of STATUSES) {
        for (const to of TARGETS[by]) it(describeVerdict(from, to, by), () => check(by, from, to));
      }
    }
  });
}

/** Grouping would take numbers for the same thing, words not. */
function word(n: number): string {
  return String(n).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');
}
