/**
 * What reports without source maps cost: no look-up but one of their project within five seconds.
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import type { Collection, Doc } from '../../../ports/store/index.js';
import { SourceMapFrameRewriter } from '../../../plugins/sourcemaps/frame-rewriter.js';
import { built, debugMeta, DEBUG_ID, filesOf, Fixture, type Built } from './fixture.js';

const BOUND_MS = 5_000;
const REPORT = 'master:bugtracker:report';
const REWRITTEN = 'src/cart.js';

/** A store that counts the look-ups of maps. */
class CountedStore extends MemoryStore {
  lookUps = 0;

  override collection<T extends Doc>(name: string): Collection<T> {
    const inner = super.collection<T>(name);
    if (!/^sourcemaps_(?:bundles|artifacts)$/.test(name)) return inner;
    return new Proxy(inner, {
      get: (target, method) => {
        const value = Reflect.get(target, method) as unknown;
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          if (method === 'find' || method === 'get') this.lookUps++;
          return Reflect.apply(value, target, args) as unknown;
        };
      },
    });
  }
}

describe('source maps: cost of reports without maps', function () {
  let app: Built;
  let store: CountedStore;
  let fixture: Fixture;
  before(() => void (app = built()));
  beforeEach(async () => {
    store = new CountedStore();
    fixture = await Fixture.create({ store });
  });
  afterEach(() => fixture.stop());

  const lookUpsOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = store.lookUps;
    await work();
    return store.lookUps - before;
  };
  const files = async (): Promise<unknown[]> => (await fixture.items()).map(({ item }) => item['file_path']);
  /** The frames of how many reports were asked about meanwhile. */
  const requested = async (work: () => Promise<unknown>): Promise<number> => {
    let n = 0;
    const rewrite = Reflect.get(SourceMapFrameRewriter.prototype, 'rewrite');
    SourceMapFrameRewriter.prototype.rewrite = function counted(this: SourceMapFrameRewriter, question) {
      n++;
      return Reflect.apply(rewrite, this, [question]);
    };
    try {
      await work();
    } finally {
      SourceMapFrameRewriter.prototype.rewrite = rewrite;
    }
    return n;
  };

  it('reads once for concurrent reports, and not again within the cache time', async () => {
    const many = (): Promise<unknown> => Promise.all(Array.from({ length: 10 }, () => fixture.report(app)));
    expect(await lookUpsOf(many)).to.equal(1);
    expect(await lookUpsOf(() => requested(many))).to.equal(0);
    expect(await requested(many)).to.equal(0);
    fixture.service.clock.advance(BOUND_MS + 1);
    expect(await lookUpsOf(many)).to.equal(1);
  });

  it('reads once for traces of files too, and then caches the project', async () => {
    const hasNone = Reflect.get(SourceMapFrameRewriter.prototype, 'hasNoMaps');
    const known: boolean[] = [];
    SourceMapFrameRewriter.prototype.hasNoMaps = function told(this: SourceMapFrameRewriter, project) {
      known.push(Reflect.apply(hasNone, this, [project]));
      return known.at(-1) === true;
    };
    try {
      const body = {
        project: 'shop',
        error_level: 'error',
        error_message: 'empty',
        stack_trace: 'Error: empty\n    at total (/srv/app/cart.js:4:2)',
      };
      const posted = async (): Promise<void> => {
        const { status } = await fixture.ask('POST', '/api/errors/v1/report', body, REPORT);
        expect(status).to.be.oneOf([200, 201]);
      };
      expect(await lookUpsOf(posted)).to.equal(1);
      expect(await lookUpsOf(posted)).to.equal(0);
      expect(known).to.deep.equal([false, true]);
    } finally {
      SourceMapFrameRewriter.prototype.hasNoMaps = hasNone;
    }
  });

  it('uses an upload immediately in the same process', async () => {
    await fixture.report(app);
    await fixture.upload(filesOf(app, DEBUG_ID));
    await fixture.report(app, debugMeta);
    expect(await files()).to.include(REWRITTEN);
  });

  it('detects an upload of another process within the cache time, even under constant load', async () => {
    await fixture.report(app, debugMeta);
    const other = await Fixture.create({ store });
    try {
      await other.upload(filesOf(app, DEBUG_ID));
      for (let i = 0; i < 3; i++) {
        fixture.service.clock.advance(BOUND_MS / 2 - 1);
        await fixture.report(app, debugMeta);
      }
      expect(await files()).to.include(REWRITTEN);
    } finally {
      await other.stop();
    }
  });
});
