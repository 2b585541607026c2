/** What a machine is offered, against the naive reading of contract 40, asking. */
import { expect } from 'chai';
import fc from 'fast-check';
import { compareVersions } from '../../../lib/versions.js';
import {
  ChannelReleases,
  getLatestRelease,
  selectOffer,
  type CachedRelease,
} from '../../../plugins/releases/update-check/channel-releases.js';
import { isInRollout, getRolloutPosition } from '../../../plugins/releases/update-check/rollout.js';
import { PLATFORMS, type Platform } from '../../../lib/formats/platform.js';
import { getReleaseId } from '../../../plugins/releases/release-place.js';

const version = fc
  .tuple(
    fc.nat(3),
    fc.option(fc.nat(12), { nil: undefined }),
    fc.option(fc.constantFrom('rc.1', 'rc.2', 'beta'), { nil: undefined, freq: 5 }),
  )
  .map(([a, b, suffix]) => `${a}${b === undefined ? '' : `.${b}`}${suffix === undefined ? '' : `-${suffix}`}`);
const platform = fc.constantFrom(...PLATFORMS);

const release = fc
  .record({
    version,
    platform,
    mandatory: fc.boolean(),
    rollout_percent: fc.constantFrom(0, 30, 100, 100),
    min_version: fc.option(version),
    withdrawn: fc.boolean(),
    halted: fc.boolean(),
  })
  .map(({ withdrawn, halted, ...fields }): CachedRelease =>
    Object.assign(fields, {
      id: getReleaseId('shop', 'stable', fields.version, fields.platform),
      rev: 1,
      product: 'shop',
      channel: 'stable',
      published_at: '',
      package_size: 1,
      package_sha256: '',
      manifest_sha256: '',
      manifest_signature: null,
      key_id: null,
      runtime: null,
      has_setup: false,
      withdrawn_at: withdrawn ? 'x' : null,
      halted_at: halted && fields.rollout_percent < 100 ? 'x' : null,
    }),
  );

/** The contract, sentence by sentence. */
function naive(
  all: readonly CachedRelease[],
  requested: { platform: Platform; version: string; instance: string | null },
) {
  const kept = [...new Map(all.map((one) => [one.id, one])).values()].filter((one) => one.withdrawn_at === null);
  const perVersion = kept.filter(
    (one) =>
      one.platform === requested.platform ||
      (one.platform === 'any' &&
        !kept.some(
          (other) => other.platform === requested.platform && compareVersions(other.version, one.version) === 0,
        )),
  );
  const newest = (list: CachedRelease[]) => list.toSorted((a, b) => compareVersions(b.version, a.version))[0] ?? null;
  const selected = perVersion.filter(
    (one) => one.halted_at === null && isInRollout(one.rollout_percent, requested.instance, one.id),
  );
  const reachable = selected.filter(
    (one) => one.min_version === null || compareVersions(one.min_version, requested.version) <= 0,
  );
  const best = newest(reachable);
  const offered = best !== null && compareVersions(best.version, requested.version) > 0 ? best : null;
  return {
    latest: newest(selected)?.id ?? null,
    release: offered?.id ?? null,
    mandatory:
      offered !== null &&
      perVersion.some(
        (one) =>
          one.mandatory &&
          compareVersions(one.version, requested.version) > 0 &&
          compareVersions(one.version, offered.version) <= 0,
      ),
    open: newest(perVersion.filter((one) => one.halted_at === null && one.rollout_percent === 100))?.id ?? null,
  };
}

describe('releases: offered releases', () => {
  it('match a naive implementation of the contract (property)', () => {
    const requested = fc.record({ platform, version, instance: fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e')) });
    fc.assert(
      fc.property(fc.array(release, { maxLength: 40 }), requested, (releases, question) => {
        const known = new ChannelReleases();
        // The later one replaces the earlier one of the same four.
        releases.forEach((one, i) => known.add({ ...one, rev: i + 1 }));
        const view = known.getViews()[question.platform];
        const offer = selectOffer(view, question.version, question.instance);
        expect({
          latest: offer.latest?.id ?? null,
          release: offer.release?.id ?? null,
          mandatory: offer.mandatory,
          open: getLatestRelease(view)?.id ?? null,
        }).to.deep.equal(naive(releases, question));
      }),
      { numRuns: 2_000 },
    );
  });

  it('only gain machines when the rollout increases, up to all machines at 100', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(100), fc.nat(100), (instance, id, a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        if (isInRollout(low, instance, id)) expect(isInRollout(high, instance, id)).to.equal(true);
        expect(isInRollout(100, instance, id)).to.equal(true);
        expect(isInRollout(0, instance, id)).to.equal(false);
        expect(isInRollout(99, null, id)).to.equal(false);
        expect(getRolloutPosition(instance, id)).to.be.within(0, 100);
      }),
    );
  });

  it('reach about the configured share of machines', () => {
    const machines = Array.from({ length: 10_000 }, (_, i) => `machine-${i}`);
    const reached = machines.filter((machine) => isInRollout(25, machine, 'release')).length;
    expect(reached).to.be.within(2_300, 2_700);
  });
});
