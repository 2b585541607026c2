import { expect } from 'chai';
import Joi from 'joi';
import {
  inject,
  injectable,
  PORT,
  type Plugin,
  type PluginContext,
  type PluginParts,
} from '../../kernel/contract/index.js';
import { BootStopped, CriticalPluginFailed } from '../../kernel/faults.js';
import { MemoryStore } from '../../adapters/memory/store.js';
import type { DocumentStore } from '../../ports/store/index.js';
import type { DomainEvent } from '../../ports/events.js';
import { SYSTEM } from '../../ports/domain/system.js';
import { token } from '../../ports/token.js';
import { bootTestKernel, createTestKernel, getRejection, waitUntil, type TestKernel } from '../harness.js';

const plugin = (
  id: string,
  setup: (ctx: PluginContext) => PluginParts | Promise<PluginParts>,
  more: Partial<Plugin> = {},
): Plugin => ({
  id,
  version: '1.0.0',
  api: 1,
  title: id,
  setup,
  ...more,
});
const NOTES = token<unknown>('notes');
const quiet = (id: string, more: Partial<Plugin> = {}): Plugin => plugin(id, () => ({}), more);
const states = ({ kernel }: TestKernel): Record<string, string> =>
  Object.fromEntries(
    kernel.system.listPlugins().map(({ id, state, reason }) => [id, reason === null ? state : `${state}: ${reason}`]),
  );

describe('kernel', () => {
  const running: TestKernel[] = [];
  const start = async (...args: Parameters<typeof bootTestKernel>): Promise<TestKernel> => {
    const made = await bootTestKernel(...args);
    running.push(made);
    return made;
  };
  afterEach(async () => {
    for (const made of running.splice(0)) await made.stop();
  });

  describe('lifecycle phases', () => {
    const tracing = (trace: string[], id: string, more: Partial<Plugin> = {}): Plugin =>
      plugin(
        id,
        () => {
          trace.push(`set up ${id}`);
          return {
            services: Object.fromEntries((more.provides ?? []).map((name) => [name, {}])),
            start: async () => void trace.push(`start ${id}`),
            stop: async () => void trace.push(`stop ${id}`),
          };
        },
        {
          collections: [{ name: 'notes', indexes: [] }],
          migrations: [{ number: 1, name: 'first', run: async () => void trace.push(`migrate ${id}`) }],
          ...more,
        },
      );

    const traced = (trace: string[]): TestKernel => {
      const made = createTestKernel([
        tracing(trace, 'user', { needs: ['base.api'] }),
        tracing(trace, 'base', { provides: ['base.api'] }),
      ]);
      const { http, jobs, store } = made;
      const on = <K extends string>(
        target: Record<K, (...args: never[]) => Promise<unknown>>,
        name: K,
        label: string,
      ): void => {
        const original = target[name];
        target[name] = async (...args: never[]) => {
          trace.push(label);
          return original.apply(target, args);
        };
      };
      on(store as MemoryStore, 'connect', 'connect');
      on(store as MemoryStore, 'close', 'close');
      on(http, 'mount', 'mount');
      on(http, 'start', 'listen');
      on(http, 'stop', 'stop listening');
      on(jobs, 'start', 'run jobs');
      on(jobs, 'drain', 'drain jobs');
      return made;
    };

    it('run in order, and stop in reverse order', async () => {
      const trace: string[] = [];
      const made = traced(trace);
      expect((await made.kernel.boot()).address).to.equal('http://127.0.0.1:0');
      const up = ['connect', 'migrate base', 'migrate user', 'set up base', 'set up user', 'mount'];
      expect(trace.splice(0)).to.deep.equal([...up, 'start base', 'start user', 'listen', 'run jobs']);
      await Promise.all([made.stop(), made.stop()]);
      await made.stop();
      expect(trace).to.deep.equal(['stop listening', 'drain jobs', 'stop user', 'stop base', 'close']);
      expect(states(made)).to.deep.equal({ base: 'stopped', user: 'stopped' });
    });

    it('end after setup in a command', async () => {
      const trace: string[] = [];
      const made = traced(trace);
      expect((await made.kernel.boot('command')).address).to.equal(null);
      expect(trace.splice(0)).to.deep.equal(['connect', 'migrate base', 'migrate user', 'set up base', 'set up user']);
      expect(states(made)).to.deep.equal({ base: 'ready', user: 'ready' });
      await made.stop();
      expect(trace).to.deep.equal(['drain jobs', 'stop user', 'stop base', 'close']);
    });

    it('are logged as a tree', async () => {
      const made = await start([
        quiet('alone'),
        plugin('bad', () => {
          throw new Error('no');
        }),
      ]);
      const tree = made.kernel.formatReport().replaceAll(/\d+ ms/g, 'N ms');
      expect(tree.split('\n')).to.deep.equal([
        'boot N ms',
        '├── manifests N ms  2 plugins',
        '├── connect N ms  memory',
        '├── migrate N ms  0 applied',
        '├── set up N ms',
        '│   ├── alone N ms',
        '│   └── bad N ms  failed: no',
        '├── mount N ms  0 routes, 0 pages',
        '├── start N ms',
        '│   └── alone N ms',
        '├── listen N ms  http://127.0.0.1:0',
        '└── jobs N ms  0 defined',
      ]);
      expect(made.log.messages('info')).to.deep.equal(['ready']);
    });
  });

  describe('stop', () => {
    it('aborts a start in progress and reverts its steps', async () => {
      const trace: string[] = [];
      let release = (): void => undefined;
      const waiting = plugin('waiting', async () => {
        await new Promise<void>((resolve) => (release = resolve));
        return { stop: async () => void trace.push('stop waiting') };
      });
      const made = createTestKernel([
        waiting,
        plugin('later', () => {
          trace.push('later');
          return {};
        }),
      ]);
      const booting = getRejection(made.kernel.boot());
      await waitUntil('setup began', () => {
        release();
        return made.kernel.formatReport().includes('waiting');
      });
      const stopping = made.stop();
      release();
      expect(await booting).to.be.instanceOf(BootStopped);
      await stopping;
      expect(trace).to.deep.equal(['stop waiting']);
      expect(made.http.state).to.equal('new');
    });

    it('continues when a plugin fails to stop', async () => {
      const trace: string[] = [];
      const made = await bootTestKernel(
        [
          plugin('good', () => ({ stop: async () => void trace.push('good') })),
          plugin('bad', () => ({
            stop: async () => {
              throw new Error('stuck');
            },
          })),
          plugin('slow', () => ({ stop: () => new Promise(() => undefined) })),
        ],
        { plugin_timeout_ms: 50 },
      );
      await made.stop();
      expect(trace).to.deep.equal(['good']);
      expect(made.log.messages('error')).to.deep.equal(['a part did not stop cleanly', 'a part did not stop cleanly']);
      expect(Object.values(states(made))).to.deep.equal(['stopped', 'stopped', 'stopped']);
    });

    it('waits for events in progress', async () => {
      let finish = (): void => undefined;
      const heard: string[] = [];
      const made = await bootTestKernel([
        plugin('talker', (ctx) => ({ jobs: [{ name: 'talk', run: async () => void ctx.emit('talker.said', 1) }] }), {
          events: ['talker.said'],
        }),
        plugin('listener', () => ({
          listens: [
            {
              event: 'talker.said',
              handle: async () => {
                await new Promise<void>((resolve) => (finish = resolve));
                heard.push('stored');
              },
            },
          ],
          stop: async () => void heard.push('stopped'),
        })),
      ]);
      await made.jobs.runNow('talker.talk');
      const stopping = made.stop();
      finish();
      await stopping;
      expect(heard).to.deep.equal(['stored', 'stopped']);
    });
  });

  describe('failure', () => {
    it('of a critical plugin aborts the start with its name and reason, and stops started plugins', async () => {
      const trace: string[] = [];
      const made = createTestKernel([
        plugin('first', () => ({ stop: async () => void trace.push('stop first') })),
        plugin(
          'vital',
          () => {
            throw new Error('no key');
          },
          { critical: true },
        ),
        plugin('last', () => {
          trace.push('last');
          return {};
        }),
      ]);
      const error = await getRejection(made.kernel.boot());
      expect(error).to.be.instanceOf(CriticalPluginFailed);
      expect(error.message).to.equal('plugin vital failed: no key');
      expect(trace).to.deep.equal(['stop first']);
      await made.stop();
    });

    it('at start makes the routes return 503 and leaves durable events in the outbox', async () => {
      const route = {
        method: 'GET',
        path: '/api/late',
        summary: 'late',
        access: 'public',
        handle: () => ({}),
      } as const;
      const made = await start([
        plugin('late', () => ({
          routes: [route],
          listens: [
            { event: 'talker.said', durable: true, handle: () => undefined },
            { event: 'talker.said', handle: () => undefined },
          ],
          start: async () => {
            throw new Error('port taken');
          },
        })),
        plugin('talker', (ctx) => ({ services: { 'talker.say': () => ctx.emit('talker.said', 1) } }), {
          provides: ['talker.say'],
          events: ['talker.said'],
        }),
      ]);
      expect(states(made)).to.deep.equal({ late: 'failed: port taken', talker: 'ready' });
      expect(made.http.mounted?.routes.map(({ plugin: owner, ready }) => [owner, ready()])).to.deep.equal([
        ['late', false],
      ]);
      expect(await made.kernel.findService(token<() => Promise<boolean>>('talker.say'))?.()).to.equal(false);
    });

    it('fails only the plugins that depend on the failed plugin, with the reason', async () => {
      const made = await start([
        plugin(
          'base',
          () => {
            throw new Error('no disk');
          },
          { provides: ['base.api'] },
        ),
        quiet('user', { needs: ['base.api'], provides: [] }),
        plugin('asker', (ctx) => ({ health: async () => ({ ok: ctx.find(token('base.api')) === undefined }) }), {
          uses: ['base.api'],
        }),
        quiet('follower', { after: ['base'] }),
      ]);
      expect(states(made)).to.deep.equal({
        base: 'failed: no disk',
        user: 'failed: needs "base.api" of plugin base, which failed: no disk',
        asker: 'ready',
        follower: 'ready',
      });
      expect((await made.kernel.system.checkHealth())['asker']).to.deep.equal({ ok: true });
    });

    it('of a migration fails its plugin', async () => {
      const bad = {
        number: 1,
        name: 'first',
        run: async () => {
          throw new Error('disk full');
        },
      };
      const made = await start([
        quiet('moved', { migrations: [bad, { ...bad, number: 2, name: 'second' }] }),
        quiet('other'),
      ]);
      expect(states(made)).to.deep.equal({ moved: 'failed: migration moved:001-first: disk full', other: 'ready' });
      expect((await made.kernel.system.listMigrations()).pending).to.deep.equal([
        'moved:001-first',
        'moved:002-second',
      ]);
      const vital = createTestKernel([quiet('moved', { critical: true, migrations: [bad] })]);
      expect((await getRejection(vital.kernel.boot())).message).to.equal(
        'plugin moved failed: migration moved:001-first: disk full',
      );
    });

    it('of a health function, a panel or a badge affects nothing else', async () => {
      const thrown = async (): Promise<never> => {
        throw new Error('nothing to see');
      };
      const nav = { section: 'work', label: 'Bugs', icon: 'bug', order: 1, badge: thrown } as const;
      const made = await start([
        plugin(
          'sad',
          () => ({
            health: thrown,
            panels: [{ id: 'p', kind: 'trend', order: 1, load: thrown }],
            pages: [{ path: '/sad', title: 'Sad', access: 'public', nav, handle: thrown }],
          }),
          { from: import.meta.dirname },
        ),
      ]);
      expect(await made.kernel.system.checkHealth()).to.deep.equal({ sad: { ok: false, error: 'nothing to see' } });
      const principal = {
        kind: 'session',
        session_id: 's',
        account_id: 'a',
        username: 'admin',
        role: 'admin',
      } as const;
      expect(await made.http.mounted?.panels[0]?.spec.load(principal)).to.equal(null);
      expect(await made.http.mounted?.pages[0]?.spec.nav?.badge?.()).to.equal(null);
    });
  });

  describe('plugin context', () => {
    it('provides an optional port only to a plugin that declares the port', async () => {
      @injectable()
      class Seller {
        constructor(@inject(PORT.signers) readonly signers: unknown) {}
      }
      const injects = (ctx: PluginContext): PluginParts => {
        expect(ctx.services({ seller: Seller }).seller.signers).to.equal(ctx.ports.signers);
        return {};
      };
      const reads = (ctx: PluginContext): PluginParts => ({ health: async () => ({ ok: ctx.ports.signers !== null }) });
      const service = await start([
        plugin('declares', injects, { ports: ['signers'] }),
        plugin('injects', injects),
        plugin('reads', reads),
      ]);
      expect(states(service)).to.deep.equal({
        declares: 'ready',
        injects:
          'failed: Seller: its constructor needs "signers", which is not bound: check that the manifest declares it',
        reads: 'ready',
      });
      expect((await service.kernel.system.checkHealth())['reads']?.['error']).to.match(
        /the port "signers" is not in its manifest: declare it in `ports`/,
      );
    });

    it('injects ports, bound values and required services into the plugin’s classes', async () => {
      @injectable()
      class Counter {
        constructor(
          @inject(NOTES) readonly notes: unknown,
          @inject(token<{ name: string }>('base.api')) readonly base: { name: string },
          @inject(PORT.clock) readonly clock: { iso(): string },
          @inject(token<{ limit: number }>('config')) readonly config: { limit: number },
        ) {}
      }
      let made: Counter | undefined;
      const service = await start([
        plugin('base', () => ({ services: { 'base.api': { name: 'base' } } }), { provides: ['base.api'] }),
        plugin(
          'user',
          (ctx) => {
            ctx.bind(NOTES, ctx.collection('notes'));
            made = ctx.services({ counter: Counter }).counter;
            expect(ctx.resolve(token('base.api'))).to.equal(made.base);
            return {};
          },
          {
            needs: ['base.api'],
            collections: [{ name: 'notes', indexes: [] }],
            config: Joi.object({ limit: Joi.number().default(7) }),
          },
        ),
        plugin('stranger', (ctx) => ({
          health: async () => ({ ok: true, found: ctx.services({ counter: Counter }).counter.notes }),
        })),
      ]);
      expect(states(service)).to.deep.equal({ base: 'ready', user: 'ready', stranger: 'ready' });
      expect(made?.config.limit).to.equal(7);
      expect(made?.clock).to.equal(service.clock);
      expect((await service.kernel.system.checkHealth())['stranger']?.['error']).to.match(/notes/);
    });

    it('rejects a class with a parameter that cannot be injected', async () => {
      @injectable()
      class Half {
        constructor(
          @inject(PORT.clock) readonly clock: unknown,
          readonly rest: string,
        ) {}
      }
      const made = await start([
        plugin('half', (ctx) => {
          ctx.services({ half: Half });
          return {};
        }),
      ]);
      expect(states(made)).to.deep.equal({ half: 'failed: Half: parameter 2 of its constructor has no @inject(…)' });
    });

    it('writes under the plugin’s prefix and emits complete events', async () => {
      const heard: DomainEvent[] = [];
      const made = await start([
        plugin(
          'talker',
          (ctx) => ({
            start: async () => {
              await ctx.collection('notes').insert({ id: '1' });
              expect(await ctx.emit('talker.said', { n: 1 })).to.equal(true);
              await ctx.emit(
                'talker.said',
                { n: 2 },
                { id: 'evt_x', timestamp: '2026-01-01T00:00:00.000Z', project_slug: 'shop' },
              );
            },
          }),
          { events: ['talker.said'], collections: [{ name: 'notes', indexes: [] }] },
        ),
        plugin('late', () => ({ listens: [{ event: '*', handle: (event) => void heard.push(event) }] })),
      ]);
      expect(await made.store.collection('talker_notes').count()).to.equal(1);
      expect(heard.map(({ data }) => data)).to.deep.equal([{ n: 1 }, { n: 2 }]);
      expect(heard[0]).to.include({ event: 'talker.said', timestamp: made.clock.iso(), project_slug: null });
      expect(heard[0]?.id).to.match(/^evt_[0-9a-f-]{36}$/);
      expect(heard[1]).to.include({ id: 'evt_x', timestamp: '2026-01-01T00:00:00.000Z', project_slug: 'shop' });
    });

    it('accepts an instance of a class as plugin parts', async () => {
      class Parts {
        #started = false;
        async start(): Promise<void> {
          this.#started = true;
        }
        async health(): Promise<{ ok: boolean; started: boolean }> {
          return { ok: true, started: this.#started };
        }
      }
      const made = await start([plugin('classy', () => new Parts())]);
      expect(await made.kernel.system.checkHealth()).to.deep.equal({ classy: { ok: true, started: true } });
    });

    it('prefixes jobs with the name of their plugin', async () => {
      const made = await start([
        plugin('worker', (ctx) => ({
          jobs: [
            { name: 'sweep', run: async () => undefined },
            { name: 'worker.mop', everyMs: 5, run: async () => undefined },
          ],
          start: async () => ctx.ports.jobs.enqueue('sweep', { n: 1 }),
        })),
      ]);
      expect([...made.jobs.defined.keys()]).to.deep.equal(['worker.sweep', 'worker.mop']);
      expect(made.jobs.enqueued).to.deep.equal([{ name: 'worker.sweep', data: { n: 1 } }]);
    });
  });

  describe('kernel.system', () => {
    it('lists plugins, scopes, events, migrations and the engine', async () => {
      let seen: unknown;
      const made = await start([
        plugin(
          'admin',
          (ctx) => {
            seen = ctx.resolve(SYSTEM);
            return {};
          },
          {
            needs: ['kernel.system'],
            scopes: ['admin:read'],
            events: ['admin.done'],
            collections: [{ name: 'log', indexes: [{ fields: ['at'] }] }],
            migrations: [{ number: 3, name: 'third', run: async () => undefined }],
          },
        ),
      ]);
      const { system } = made.kernel;
      expect(seen).to.equal(system);
      expect(system.engine).to.equal('memory');
      expect(system.listScopes()).to.deep.equal(['admin:read']);
      expect(system.listEvents()).to.deep.equal(['admin.done']);
      expect(await system.getOpenApi()).to.deep.equal({ openapi: '3.1.0' });
      expect(await system.getFreeBytes()).to.equal(1_000_000_000);
      const { applied, pending, current } = await system.listMigrations();
      expect(applied.map(({ id }) => id.replace(/-[0-9a-f]{8}$/, '-HASH'))).to.have.members([
        'admin:indexes-HASH',
        'admin:003-third',
      ]);
      expect(pending).to.deep.equal([]);
      expect(applied.map(({ id }) => id)).to.include(current);
    });
  });

  describe('migrations at start', () => {
    const mongo = (): DocumentStore => Object.defineProperty(new MemoryStore(), 'engine', { value: 'mongodb' });
    const moved = quiet('moved', { migrations: [{ number: 1, name: 'first', run: async () => undefined }] });

    it('stay pending on a database server when auto_migrate is false, and the service starts', async () => {
      const made = await start([moved], { store: mongo(), auto_migrate: false });
      expect((await made.kernel.system.listMigrations()).pending).to.deep.equal(['moved:001-first']);
      expect(made.log.messages('warn')).to.include('migrations are pending: run `aos migrate`');
      expect(await made.kernel.system.migrate()).to.deep.equal({ applied: ['moved:001-first'], pending: [] });
    });

    it('stay pending in commands on a database server, and run on the embedded store', async () => {
      const server = await start([moved], { store: mongo(), mode: 'command' });
      expect((await server.kernel.system.listMigrations()).pending).to.deep.equal(['moved:001-first']);
      const embedded = await start([moved], { mode: 'command', auto_migrate: false });
      expect((await embedded.kernel.system.listMigrations()).pending).to.deep.equal([]);
    });

    it('stay pending when the command requests it', async () => {
      const made = await start([moved], { mode: 'command', boot: { migrate: false } });
      expect((await made.kernel.system.listMigrations()).pending).to.deep.equal(['moved:001-first']);
    });
  });
});
