/**
 * The process dies at every single write of a publish, a promotion and a withdrawal, to the
 * documents and to the store, before the write arrived, after it, and halfway between the renames:
 * what was acknowledged is there, store, documents and `latest.json` agree, items are closed once
 * and every event goes out with one id (contract 40, publishing).
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import type { ManifestTexts, ReleaseLocation, ReleaseStore } from '../../../ports/release-store.js';
import type { BugsApi } from '../../../ports/domain/bugs.js';
import { toStorePath } from '../../../plugins/releases/model.js';
import { Died, dying } from '../bugs/dying.js';
import { CI, ensureCollections, fixtureOn, hashOf, memoryPackages, packageOf, type Fixture } from './fixture.js';

const WRITES = new Set(['stage', 'discard', 'put', 'link', 'describe', 'withdraw', 'write']);
type When = 'before' | 'after' | 'halfway';

/** A store that dies at its `n`th write. Halfway: the package is renamed, its texts are not. */
function dyingStore(store: ReleaseStore, n: number, when: When): { releaseStore: ReleaseStore; died: () => boolean } {
  let left = n;
  const dies = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name) {
        const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
        return async (...args: unknown[]): Promise<unknown> => {
          if (left <= 0) throw new Died();
          if (!WRITES.has(String(name)) || --left > 0) return method.apply(target, args);
          if (when === 'after') await method.apply(target, args);
          if (when === 'halfway' && name === 'put') {
            const torn: ManifestTexts = { manifest: 'of the package before', signature: null };
            await store.packages.put(args[0] as string, args[1] as ReleaseLocation, torn);
          }
          throw new Died();
        };
      },
    });
  const { folder, packages, channels, access } = store;
  const releaseStore: ReleaseStore = {
    folder,
    packages: dies(packages),
    channels: dies(channels),
    access: dies(access),
    open: async (segments) => {
      if (left <= 0) throw new Died();
      return store.open(segments);
    },
    requireFolder: (product) => store.requireFolder(product),
    probe: (keepFree) => store.probe(keepFree),
    close: () => store.close(),
  };
  return { releaseStore, died: () => left <= 0 };
}

/** Closes one item per version, once, and answers the same to the same act of publishing. */
class Items {
  readonly closedBy = new Map<string, string>();
  readonly api = {
    recordRelease: async (
      _project: string,
      { version, publication = '' }: { version: string; publication?: string },
    ) => {
      if (!this.closedBy.has(version)) this.closedBy.set(version, publication);
      return this.closedBy.get(version) === publication ? [`item of ${version}`] : [];
    },
    refsOf: async (ids: readonly string[]) => [...ids],
    withdrawRelease: async () => {},
  } as unknown as BugsApi;
}

interface Scene {
  name: string;
  /** What was there before. */
  before: (fixture: Fixture) => Promise<unknown>;
  run: (fixture: Fixture) => Promise<unknown>;
  /** Package hash that check offers: before, and once the call was acknowledged. */
  offers: [string | null, string | null];
  channel: string;
  /** Versions that were published; default: 1. */
  versions?: number;
  /** Events of the call, once it became true. */
  events: number;
}

const sha = (content: string): string => hashOf(packageOf({ 'app.txt': content }));
const chosen = { product: 'shop', channel: 'stable', version: '1.0', platform: null };

const SCENES: Scene[] = [
  {
    name: 'a first publish',
    before: async () => {},
    run: (one) => one.publish('1.0', 'new'),
    offers: [null, sha('new')],
    channel: 'stable',
    events: 1,
  },
  {
    name: 'a replacement',
    before: (one) => one.publish('1.0', 'old'),
    run: (one) => one.publish('1.0', 'new'),
    offers: [sha('old'), sha('new')],
    channel: 'stable',
    events: 1,
  },
  {
    name: 'a promotion',
    before: (one) => one.publish('1.0', 'old'),
    run: (one) => one.changes.promote(CI, chosen, 'beta', undefined, 'ci'),
    offers: [null, sha('old')],
    channel: 'beta',
    events: 1,
  },
  {
    name: 'a withdrawal',
    before: (one) => one.publish('1.0', 'old'),
    run: (one) => one.changes.withdraw(CI, chosen, 'bad'),
    offers: [sha('old'), null],
    channel: 'stable',
    events: 0,
  },
  {
    name: 'a rollback',
    before: async (one) => {
      for (const [version, content] of [
        ['1.0', 'old'],
        ['1.1', 'between'],
        ['1.2', 'new'],
      ] as const)
        await one.publish(version, content);
    },
    run: (one) => one.rollbacks.rollBack(CI, chosen, 'bad'),
    versions: 3,
    offers: [sha('new'), sha('old')],
    channel: 'stable',
    events: 1,
  },
];

async function textOf(packages: ReleaseStore, path: string[]): Promise<string | null> {
  const file = await packages.open(path);
  if (file === null) return null;
  const parts: Uint8Array[] = [];
  for await (const part of file.read(0, file.size)) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** Store, documents and `latest.json` say the same, and nothing is left over. */
async function agree(one: Fixture, where: string): Promise<void> {
  for (const doc of await one.docs.list({})) {
    const place = toStorePath(doc);
    const held = await one.releaseStore.packages.readPackageInfo(place);
    expect(held?.sha256 ?? null, where).to.equal(doc.withdrawn_at === null ? doc.package_sha256 : null);
    if (doc.withdrawn_at !== null) continue;
    const manifest = await one.manifests.read(doc.id, doc.manifest_sha256);
    expect(held?.texts, where).to.deep.equal({ manifest, signature: doc.manifest_signature });
    expect(doc, where).to.not.have.any.keys('open_at', 'withdrawing', 'rolling_back');
    expect(doc.outbox, where).to.deep.equal([]);
    const latest = JSON.parse((await textOf(one.releaseStore, ['shop', doc.channel, 'latest.json'])) ?? '') as object;
    const { generated_at: _, ...wanted } = one.channels.buildDocument('shop', doc.channel);
    expect(latest, where).to.deep.include(wanted);
  }
  expect(await one.releaseStore.packages.listStaged(), where).to.deep.equal([]);
  expect((await one.deps.publishes.find()).items, where).to.deep.equal([]);
}

describe('releases: kill -9 at every write', function () {
  for (const { name, before, run, offers, channel, events, versions = 1 } of SCENES) {
    for (const what of ['documents', 'store'] as const) {
      for (const when of ['before', 'after', 'halfway'] as const) {
        if (what === 'documents' && when === 'halfway') continue;
        it(`recovers from ${name}, ${when} a write to the ${what}`, async () => {
          for (let n = 1; ; n++) {
            const where = `write ${n}`;
            const documents = await ensureCollections(new MemoryStore());
            const releaseStore = memoryPackages();
            const items = new Items();
            const withItems = (deps: Fixture['deps']): void => void (deps.bugs = () => items.api);
            const first = fixtureOn(documents, releaseStore, undefined, withItems);
            await before(first);
            const killed =
              what === 'documents'
                ? { ...dying(documents, n, when === 'after'), releaseStore }
                : { store: documents, ...dyingStore(releaseStore, n, when) };
            const victim = fixtureOn(killed.store, killed.releaseStore, first.clock, withItems);
            await victim.index.refresh();
            const acknowledged = await run(victim).then(
              () => !killed.died(),
              () => false,
            );
            const heir = fixtureOn(documents, releaseStore, first.clock, withItems);
            heir.clock.forward(60_000);
            await heir.index.refresh();
            await heir.reconciler.start();
            await agree(heir, where);
            const answer = await heir.check('0.1', { channel });
            const offered = answer.release?.package_sha256 ?? null;
            expect(offered, where).to.be.oneOf(acknowledged ? [offers[1]] : offers);
            const became = offered === offers[1];
            const reported = new Set([...victim.told, ...heir.told].map(({ id }) => id));
            expect(reported.size, `events, ${where}`).to.equal(became ? events : 0);
            expect(items.closedBy.size, where).to.be.at.most(versions);
            const [told1] = [...victim.told, ...heir.told]
              .filter(({ event }) => event === 'release.published')
              .slice(-1);
            if (name === 'a first publish' && became)
              expect(told1?.data['closed_items']).to.deep.equal(['item of 1.0']);
            // The caller tries again, and comes to the same.
            if (!acknowledged) await run(heir);
            await agree(heir, `${where}, again`);
            const again = await heir.check('0.1', { channel });
            expect(again.release?.package_sha256 ?? null, where).to.equal(offers[1]);
            if (!killed.died()) return;
          }
        });
      }
    }
  }
});
