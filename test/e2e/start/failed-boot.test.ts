/**
 * A start that fails says so and ends by itself, whatever it had opened by then (contract 95: exit
 * 1). Each phase of the boot, with the real program, by `serve`; by a command one on each engine.
 * Where another fault of the same phase, or the same one by `serve`, shows that it ends, what is
 * said is looked at in this process.
 */
import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRejection, waitUntil } from '../../harness.js';
import { durableEngines } from '../../support/durable-engines.js';
import { prepareDataDir, prepareKeys } from '../../support/prepared-data-dir.js';
import { runCliInProcess } from '../../support/in-process-cli.js';
import { runPluginCommand, CLI_PROGRAM, buildServiceEnv, TestService } from '../../support/service.js';

/** A process that hangs is killed after so long, and then has no exit code. */
const HANG_MS = 120_000;
/** A stop that hangs is given up after 15 s (contract 95, shutdown). */
const GIVEN_UP_MS = 13_000;

interface Run {
  child: ChildProcess;
  stdout: string;
  stderr: string;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

function run(env: NodeJS.ProcessEnv, words: string[]): Run {
  const child = spawn(process.execPath, [...CLI_PROGRAM, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = setTimeout(() => child.kill('SIGKILL'), HANG_MS);
  const one: Run = {
    child,
    stdout: '',
    stderr: '',
    ended: once(child, 'close').then(([code, signal]) => {
      clearTimeout(kill);
      return { code: code as number | null, signal: signal as NodeJS.Signals | null };
    }),
  };
  child.stdout.on('data', (chunk: Buffer) => (one.stdout += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (one.stderr += chunk.toString('utf8')));
  return one;
}

/** A plugin that does `what` in its phase. */
const plain = (what: string): string => `
export default {
  id: 'faulty', version: '1.0.0', api: 1, title: 'Faulty', critical: true, needs: [], provides: [],
  ${what}
};
`;
/** The same, which keeps its process alive with a timer. */
const plugin = (what: string): string => `setInterval(() => {}, 1000);${plain(what)}`;
const throws = "throw new Error('out of order');";
const hangs = 'await new Promise(() => {});';

const PHASES: Record<string, string> = {
  'a migration': `migrations: [{ number: 1, name: 'first', run: async () => { ${throws} } }], setup: () => ({}),`,
  setup: `setup: async () => { ${throws} },`,
};
const SERVE_PHASES: Record<string, string> = {
  mount: `setup: () => ({ routes: [0, 1].map(() => ({ method: 'GET', path: '/api/faulty', summary: 'Twice', access: 'public', handle: () => ({}) })) }),`,
  start: `setup: () => ({ start: async () => { ${throws} } }),`,
};

/** A folder of its own, with settings for its store. */
class Place {
  constructor(
    readonly folder: string,
    private readonly settings: Record<string, string>,
  ) {}

  env(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
    return buildServiceEnv(join(this.folder, 'data'), { ...this.settings, ...extra });
  }

  /** Settings with one plugin from outside. */
  async plugin(text: string): Promise<Record<string, string>> {
    await writeFile(join(this.folder, 'faulty.mjs'), text);
    return this.plugins('./faulty.mjs');
  }

  async plugins(path: string): Promise<Record<string, string>> {
    const file = join(this.folder, 'aos.json');
    await writeFile(file, JSON.stringify({ plugins: [path] }));
    return { SVC_CONFIG: file };
  }

  /** The program, by `serve`; what a command says of it, in this process. */
  async refused(words: string[], extra: Record<string, string>, says: RegExp): Promise<void> {
    if (words[0] === 'serve') await this.fails(words, extra, says);
    else await saysHere(this.env(extra), words, says);
  }

  /** The program says it and ends. */
  async fails(words: string[], extra: Record<string, string>, says: RegExp): Promise<Run> {
    const one = run(this.env(extra), words);
    const { code } = await one.ended;
    expect(one.stderr).to.match(says);
    expect(code, `${words.join(' ')}: ${one.stderr}`).to.equal(1);
    expect(one.stdout).to.not.include('listening on');
    return one;
  }
}

/** What the words say of a fault by which other words have ended before. */
async function saysHere(env: NodeJS.ProcessEnv, words: string[], says: RegExp): Promise<void> {
  if (words[0] === 'serve') {
    const { code, stderr } = await runCliInProcess(env, words);
    expect([code, stderr]).to.satisfy(([ended, text]: [number, string]) => ended === 1 && says.test(text), stderr);
  } else expect((await getRejection(runPluginCommand(env, words))).message).to.match(says);
}

const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'aos-boot-'));
const said = (one: Run, text: string): Promise<void> => waitUntil(`${text} on stderr`, () => one.stderr.includes(text));
const COMMANDS = [['serve'], ['user', 'list']];

for (const engine of durableEngines) {
  describe(`start: exit after a failed boot (${engine.name})`, function () {
    let place: Place;
    /** A store that a start has left: for phases after those that make one. */
    let used: Record<string, string> | undefined;

    // Skipped in a hook of each test, the suite would still run what cleans up after it.
    before(async function () {
      if ((await engine.settings()) === null) this.skip();
    });
    beforeEach(async function () {
      const settings = (await engine.settings()) ?? this.skip();
      place = new Place(await newFolder(), settings);
    });
    async function onUsedStore(): Promise<void> {
      if (engine.name === 'sqlite') {
        await prepareDataDir(join(place.folder, 'data'), buildServiceEnv);
        return;
      }
      if (used === undefined) {
        used = (await engine.settings()) ?? undefined;
        const first = run(new Place(place.folder, used ?? {}).env(), ['migrate']);
        expect((await first.ended).code, first.stderr).to.equal(0);
      }
      place = new Place(place.folder, used ?? {});
    }
    afterEach(() => rm(place.folder, { recursive: true, force: true }));

    /** No engine is open yet in these. */
    function beforeAnyStore(words: string[]): void {
      const name = words.join(' ');
      it(`${name}: exits on an invalid configuration`, () =>
        place.refused(words, { SVC_PORT: 'eighty' }, /server\.port/));

      it(`${name}: exits on an unusable key`, async () => {
        const path = join(place.folder, 'release.pem');
        await writeFile(path, 'no key');
        await saysHere(place.env({ SVC_RELEASE_PRIVATE_KEY: path }), words, /release_private_key/);
      });
    }

    for (const words of COMMANDS) {
      const name = words.join(' ');

      if (engine.name === 'sqlite') beforeAnyStore(words);

      for (const [phase, text] of Object.entries(PHASES)) {
        it(`${name}: exits on an error in ${phase} of a critical plugin`, async () => {
          await onUsedStore();
          // A command does not migrate a store of several processes.
          const migrates = engine.name === 'sqlite' || words[0] === 'serve';
          if (phase === 'a migration' && !migrates) return;
          // Of the two `setup` has more open.
          if (words[0] === 'serve' || phase === 'setup')
            await place.fails(words, await place.plugin(plugin(text)), /out of order/);
          else await saysHere(place.env(await place.plugin(plain(text))), words, /out of order/);
        });
      }

      if (engine.name === 'sqlite') {
        it(`${name}: exits when the store cannot be opened`, async () => {
          await mkdir(join(place.folder, 'data', 'aos.db'), { recursive: true });
          await prepareKeys(join(place.folder, 'data'), buildServiceEnv);
          await saysHere(place.env(), words, /aos\.db|database file|directory/);
        });

        it(`${name}: exits when the file is not a store`, async () => {
          const data = join(place.folder, 'data');
          await mkdir(data);
          await prepareKeys(data, buildServiceEnv);
          await writeFile(join(data, 'aos.db'), 'this is no database, and long enough to be one'.repeat(100));
          await place.refused(words, {}, /not a database|NOTADB/);
        });
      } else {
        it(`${name}: exits without keys`, () =>
          saysHere(place.env({ SVC_LICENSE_KEY_FILE: '/dev/null' }), words, /license_key/));

        it(`${name}: exits with keys of another store`, async () => {
          await onUsedStore();
          await place.refused(
            words,
            { SVC_LICENSE_KEY: 'another-license-key-0123456789-0123' },
            /security\.license_key \(from environment variable SVC_LICENSE_KEY\) differs from what this store is used with/,
          );
        });
      }
    }

    for (const [phase, text] of Object.entries(SERVE_PHASES)) {
      it(`serve: exits on an error in ${phase}`, async () => {
        await onUsedStore();
        // In this process its log would come between the lines of the runner.
        await place.fails(['serve'], await place.plugin(plugin(text)), /out of order|api\/faulty/);
      });
    }

    it('serve: exits when the port is in use', async () => {
      await onUsedStore();
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const { port } = taken.address() as { port: number };
      const settings = { SVC_PORT: String(port) };
      const says =
        /^configuration: server\.port \d+ is in use by another program \(from environment variable SVC_PORT\)$/m;
      // The phase before it, `start`, shows on each engine that the program ends.
      const rejected =
        engine.name === 'sqlite'
          ? place.fails(['serve'], settings, says)
          : saysHere(place.env(settings), ['serve'], says);
      await rejected.finally(() => taken.close());
    });

    it('serve: exits when another server uses the data directory', async function () {
      if (engine.name !== 'sqlite') this.skip();
      await onUsedStore();
      const { folder } = place;
      const first = await TestService.createStarted({}, join(folder, 'data'));
      try {
        await place.fails(['serve'], {}, /another server/);
        const store = join(folder, 'data', 'aos.db');
        const elsewhere = { SVC_DATA_DIR: join(folder, 'elsewhere'), SVC_STORAGE_URL: `sqlite:${store}` };
        await saysHere(
          place.env(elsewhere),
          ['serve'],
          new RegExp(`^another server \\(pid \\d+, ${first.url}\\) is running on ${store}$`, 'm'),
        );
        // By a second name of the file it would have a log of its own.
        const second = join(folder, 'second.db');
        await link(store, second);
        const named = { ...elsewhere, SVC_STORAGE_URL: `sqlite:${second}` };
        const rejected = new RegExp(
          `storage\\.url is not accepted: ${second} has 2 names \\(hard links\\).*; process \\d+ has it open: remove`,
        );
        for (const words of [['serve'], ['token', 'list']]) await saysHere(place.env(named), words, rejected);
      } finally {
        await first.stop();
      }
    });

    it('serve: terminates its threads when a plugin’s stop hangs and the store is busy', async () => {
      await onUsedStore();
      // The threads are those of the embedded store, twenty searches for a few; another store is
      // busy in its own server, where a search now and then does.
      const [count, searches, pauseMs] = engine.name === 'sqlite' ? [1000, 20, 0] : [100, 2, 20];
      const next = pauseMs === 0 ? 'work(i + 1)' : `setTimeout(work, ${pauseMs}, i + 1)`;
      const work = `const rows = ctx.collection('rows');
        const work = (i) => rows.find({ filter: { n: { gte: i % 100 } }, limit: 1000 }).then(() => ${next}, () => {});
        const filled = Promise.all(Array.from({ length: ${count} }, (_, n) => rows.insert({ id: String(n), n })));
        filled.then(() => { for (let i = 0; i < ${searches}; i++) work(i); });`;
      const phase = `collections: [{ name: 'rows', indexes: [] }], setup: (ctx) => { ${work} return { start: async () => { await filled; ${throws} }, stop: async () => { ${hangs} } }; },`;
      const one = await place.fails(['serve'], await place.plugin(plugin(phase)), /out of order/);
      expect(one.stderr).to.not.include('panicked');
    });

    it('serve: aborts a hanging stop on a second SIGTERM', async () => {
      await onUsedStore();
      const phase = `setup: () => ({ start: () => process.stderr.write('started\\n'), stop: async () => { process.stderr.write('hanging\\n'); setTimeout(() => process.stderr.write('late'), ${GIVEN_UP_MS}); ${hangs} } }),`;
      const one = run(place.env(await place.plugin(plugin(phase))), ['serve']);
      await said(one, 'started');
      one.child.kill('SIGTERM');
      await said(one, 'hanging');
      one.child.kill('SIGTERM');
      const { code } = await one.ended;
      expect(code, one.stderr).to.equal(1);
      expect(one.stderr).to.not.include('late');
    });
  });
}

/** All begin at once: together they take as long as the longest. */
describe('start: exit after a failed boot that reaches a time limit', function () {
  const places: Place[] = [];
  const ends = new Map<string, Promise<void>>();

  async function placed(settings: Record<string, string>): Promise<Place> {
    const place = new Place(await newFolder(), settings);
    places.push(place);
    return place;
  }
  async function hung(place: Place): Promise<void> {
    const phase = `setup: async () => { process.stderr.write('hanging\\n'); ${hangs} },`;
    const one = run(place.env(await place.plugin(plugin(phase))), ['serve']);
    await said(one, 'hanging');
    one.child.kill('SIGTERM');
    const { code } = await one.ended;
    expect(code, one.stderr).to.equal(1);
  }
  async function unanswered(place: Place, words: string[]): Promise<void> {
    await place.fails(words, { SVC_STORAGE_URL: 'mongodb://127.0.0.1:9/aos' }, /127\.0\.0\.1:9/);
  }

  before(async () => {
    for (const engine of durableEngines) {
      const settings = await engine.settings();
      if (settings === null) continue;
      const place = await placed(settings);
      if (engine.name === 'sqlite') await prepareDataDir(join(place.folder, 'data'), buildServiceEnv);
      ends.set(engine.name, hung(place));
      if (engine.name === 'sqlite') continue;
      for (const words of COMMANDS) ends.set(words.join(' '), unanswered(await placed(settings), words));
    }
    await Promise.allSettled(ends.values());
  });
  after(() => Promise.all(places.map(({ folder }) => rm(folder, { recursive: true, force: true }))));

  for (const { name } of durableEngines)
    it(`serve: aborts a hanging start on one SIGTERM (${name})`, async function () {
      await (ends.get(name) ?? this.skip());
    });
  for (const words of COMMANDS)
    it(`${words.join(' ')}: exits when the server does not respond (mongodb)`, async function () {
      await (ends.get(words.join(' ')) ?? this.skip());
    });
});
