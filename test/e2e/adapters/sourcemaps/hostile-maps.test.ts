/**
 * Attacks on the reader of source maps (contract 21, source maps), against the real program: a
 * token of one project uploads maps, and the public key of the project sends the errors that need
 * them.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { bundle } from '../../../adapters/sourcemaps/archives.js';
import { waitUntil } from '../../../harness.js';
import { TestService } from '../../../support/service.js';

const MANY_MS = 300_000;
const PIECE = 262_144;
const MOST_GROWTH = 200 * 1024 * 1024;
const sha1 = (bytes: Buffer): string => createHash('sha1').update(bytes).digest('hex');
const debugIdOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** A number in letters. */
const letters = (n: number): string => String.fromCodePoint(65 + Math.floor(n / 26), 65 + (n % 26));

interface Occurrence {
  context: { frames: { function: string }[]; missing_source_maps?: { problem: string }[] };
}

/** The process and its children. */
async function processesOf(pid: number): Promise<number[]> {
  const pids = [pid];
  for (const task of await readdir(`/proc/${pid}/task`)) {
    const children = await readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '');
    pids.push(...children.split(' ').filter(Boolean).map(Number));
  }
  return pids;
}

/** Resident bytes of a process and its children. */
async function residentBytes(pid: number): Promise<number> {
  const sizes = (await processesOf(pid)).map(async (one) => {
    const status = await readFile(`/proc/${one}/status`, 'utf8').catch(() => '');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

const mapOf = (over: object): string =>
  JSON.stringify({ version: 3, sources: ['../src/a.ts'], names: [], mappings: 'AAAA', ...over });
const withNames = (names: string): string => mapOf({ names: 0 }).replace('"names":0', () => `"names":[${names}]`);

interface Pair {
  map: string;
  script?: string;
}
const alone = (maps: readonly string[]): Pair[] => maps.map((map) => ({ map }));

const ATTACKS: readonly [name: string, files: () => Pair[]][] = [
  [
    'eight maps with a million empty objects for names, and one with 23 million numbers',
    () =>
      alone([
        ...Array.from({ length: 8 }, () => withNames(`${'{},'.repeat(999_999)}{}`)),
        withNames(`${'1,'.repeat(22_999_999)}1`),
      ]),
  ],
  [
    'maps of empty lists, nested lists, empty lines, short mappings, and one long source',
    () =>
      alone([
        mapOf({ x: 0 }).replace('"x":0', () => `"x":[${'[],'.repeat(15_000_000)}[]]`),
        mapOf({ x: 0 }).replace('"x":0', () => `"x":${'['.repeat(20_000_000)}${']'.repeat(20_000_000)}`),
        mapOf({ mappings: ';'.repeat(46_000_000) }),
        mapOf({ mappings: 'AAAA,'.repeat(9_000_000) }),
        mapOf({ sources: Array.from({ length: 9_000_000 }, () => '') }),
        mapOf({ sourcesContent: ['\n'.repeat(22_000_000)] }),
        mapOf({ sourcesContent: ['\u00fc'.repeat(22_000_000)] }),
      ]),
  ],
  [
    'scripts of empty lists, functions, variables, statements, parentheses, and one long text',
    () =>
      [
        `x=[${'[],'.repeat(5_000_000)}]`,
        `x=[${'()=>0,'.repeat(2_500_000)}]`,
        'var a;'.repeat(2_600_000),
        ';'.repeat(16_000_000),
        'a,'.repeat(7_900_000),
        `${'{'.repeat(7_900_000)}${'}'.repeat(7_900_000)}`,
        `x="${'\u20ac'.repeat(5_000_000)}"`,
      ].map((script) => ({ map: mapOf({}), script })),
  ],
];

describe('malicious source maps', function () {
  let service: TestService;
  let manager: string;
  let shop: { token: string; url: string; key: string };

  beforeEach(async function () {
    // The memory of other processes is read from /proc.
    if (process.platform !== 'linux') this.skip();
    TestService.asUsersRunIt = true;
    // It reads sixty items again and again until all are rewritten.
    service = await TestService.createStarted({ SVC_LIMITS__API_PER_MINUTE: '0' });
    manager = await service.createToken('bugtracker:manage,projects:manage');
    const projects = '/api/projects/v1/projects';
    const { body } = await service.request('POST', projects, manager, { slug: 'shop' });
    const key = await service.request('POST', `${projects}/shop/intake-keys`, manager, {});
    const dsn = new URL(String(key.body['dsn']));
    const token = await service.createToken('bugtracker:manage', 'shop');
    shop = { token, url: `/api${dsn.pathname}/envelope/`, key: dsn.username };
    expect(body['project']).to.be.an('object');
  });
  afterEach(async () => {
    TestService.asUsersRunIt = false;
    await service.dispose();
  });

  async function upload(files: readonly Pair[]): Promise<number> {
    const bytes = bundle(
      files.flatMap(({ map, script = 'throw 1' }, n) => {
        const headers = { 'debug-id': debugIdOf(n) };
        return [
          { path: `${n}.js`, type: 'minified_source', url: `~/${n}.js`, headers, text: script },
          { path: `${n}.js.map`, type: 'source_map', url: `~/${n}.js.map`, headers, text: map },
        ];
      }),
    );
    const pieces = Array.from({ length: Math.ceil(bytes.length / PIECE) }, (_, i) =>
      bytes.subarray(i * PIECE, (i + 1) * PIECE),
    );
    const form = new FormData();
    for (const piece of pieces) form.append('file', new Blob([new Uint8Array(piece)]), sha1(piece));
    const headers = { authorization: `Bearer ${shop.token}` };
    const url = `${service.url}/api/0/organizations/acme`;
    const sent = await fetch(`${url}/chunk-upload/`, { method: 'POST', headers, body: form });
    expect(sent.status).to.equal(200);
    const requested = { checksum: sha1(bytes), chunks: pieces.map(sha1), projects: ['shop'] };
    const path = '/api/0/organizations/acme/artifactbundle/assemble/';
    expect((await service.request('POST', path, shop.token, requested)).body).to.include({ state: 'ok' });
    return bytes.length;
  }

  async function report(n: number, id: number, colno = 1): Promise<number> {
    const filename = `https://shop.example/${n}.js`;
    const frames = [{ filename, lineno: 1, colno, function: 'a', in_app: true }];
    const event = {
      event_id: id.toString(16).padStart(32, '0'),
      platform: 'javascript',
      // Classes of their own: of one class the flood guard makes 25 items.
      exception: { values: [{ type: `Error${letters(id)}`, value: `no ${n}`, stacktrace: { frames } }] },
      debug_meta: { images: [{ type: 'sourcemap', code_file: filename, debug_id: debugIdOf(n) }] },
    };
    const payload = JSON.stringify(event);
    const body = `{"event_id":"${event.event_id}"}\n{"type":"event"}\n${payload}\n`;
    const headers = { 'x-sentry-auth': `Sentry sentry_key=${shop.key}` };
    return (await fetch(service.url + shop.url, { method: 'POST', headers, body })).status;
  }

  for (const [name, files] of ATTACKS) {
    it(`limits memory growth to 200 MiB and stays available with ${name}`, async () => {
      const pid = service.child?.pid ?? 0;
      const given = files();
      const bytes = await upload(given);
      const before = await residentBytes(pid);
      let most = before;
      const done = new AbortController();
      const watching = (async () => {
        while (!done.signal.aborted) {
          most = Math.max(most, await residentBytes(pid));
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      })();
      const count = given.length;
      const answers = await Promise.all(Array.from({ length: count }, (_, n) => report(n, n + 1)));
      expect(answers).to.deep.equal(answers.map(() => 200));
      // What comes after is answered too, by the same process.
      expect(await report(0, count + 1)).to.equal(200);
      done.abort();
      await watching;
      expect(service.child?.exitCode).to.equal(null);
      const growth = most - before;
      if (process.env['AOS_SHOW_FIGURES'] !== undefined)
        console.log(`${bytes} bytes: ${before >> 20} MiB, +${growth >> 20} MiB`);
      expect(growth).to.be.below(MOST_GROWTH);
    });
  }

  it('rewrites every event of a burst with a 44 MB map and a script of more than 3 MiB', async () => {
    const { map, script, columns } = largeBuild();
    expect(map.length).to.be.above(44_000_000);
    expect(script.length).to.be.above(3 * 1024 * 1024);
    await upload([{ map, script }]);
    const answers = await Promise.all(columns.map((column, n) => report(0, n + 1, column)));
    expect(answers).to.deep.equal(answers.map(() => 200));
    await untilRewritten(columns);
  });

  it('rewrites a burst later when its reader had no CPU time left', async () => {
    const { map, script, columns } = largeBuild();
    await upload([{ map, script }]);
    const [, reader = 0] = await processesOf(service.child?.pid ?? 0);
    process.kill(reader, 'SIGSTOP');
    const answers = await Promise.all(columns.map((column, n) => report(0, n + 1, column)));
    process.kill(reader, 'SIGCONT');
    expect(answers).to.deep.equal(answers.map(() => 200));
    await untilRewritten(columns);
  });

  /** Each event in its source, at once or by the job; a minified one says why until then. */
  async function untilRewritten(columns: readonly number[]): Promise<void> {
    const expected = columns.map((_, n) => `src/m${n}.ts:${n + 1}#written${n}`).toSorted();
    await waitUntil(
      'every event in its source',
      async () => {
        const found = await places();
        const raw = found.filter(({ place }) => !place.startsWith('src/'));
        // An occurrence is rewritten after its item.
        for (const { place, why } of raw)
          if (!place.includes('#written')) expect(why).to.match(/was not read|exceeds the number of concurrent maps/);
        if (raw.length > 0) return false;
        expect(found.map(({ place }) => place).toSorted()).to.deep.equal(expected);
        return true;
      },
      MANY_MS,
    );
  }

  async function places(): Promise<{ place: string; why: string }[]> {
    const { body } = await service.request('GET', '/api/bugtracker/v1/bugs?limit=200', manager);
    const items = body['items'] as Record<string, unknown>[];
    return Promise.all(
      items.map(async ({ id }) => {
        const { status, body: whole } = await service.request('GET', `/api/bugtracker/v1/bugs/${String(id)}`, manager);
        expect(status, JSON.stringify(whole)).to.equal(200);
        const { file_path, line_no } = whole['item'] as { file_path: string; line_no: number };
        const [newest] = whole['occurrences'] as Occurrence[];
        const { frames, missing_source_maps: missing } = newest?.context ?? { frames: [] };
        const place = `${file_path}:${line_no}#${frames.at(-1)?.function}`;
        return { place, why: missing?.[0]?.problem ?? '' };
      }),
    );
  }
});

/**
 * A script of 60 functions, each with a source of its own, and a map as large as those of the
 * largest applications.
 */
function largeBuild(): { map: string; script: string; columns: number[] } {
  const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const digits = (value: number): string => {
    let left = value < 0 ? (-value << 1) | 1 : value << 1;
    let text = '';
    do {
      text += DIGITS[(left & 31) | (left > 31 ? 32 : 0)];
      left >>>= 5;
    } while (left > 0);
    return text;
  };
  const columns: number[] = [];
  const mappings: string[] = [];
  const before = [0, 0, 0, 0, 0];
  const add = (...segment: number[]): void => {
    mappings.push(segment.map((value, i) => digits(value - (before[i] ?? 0))).join(''));
    segment.forEach((value, i) => (before[i] = value));
  };
  let script = '';
  for (let n = 0; n < 60; n++) {
    add(script.length + 'function '.length, n, n, 16, n);
    script += `function a${n}(b){`;
    // Some three million mappings, as a script has that is many times as large.
    for (let i = 0; i < 50_000; i++) add(script.length + i, n, n, i % 90);
    script += ` return b[${'0,'.repeat(30_000)}0];`;
    columns.push(script.length + 1);
    add(script.length, n, n, 4);
    script += 'throw 1}';
  }
  const sourcesContent = columns.map(
    (_, n) => `${'\n'.repeat(n)}export function written${n}(b) {\n${'// more of it\n'.repeat(38_000)}`,
  );
  const sources = columns.map((_, n) => `../src/m${n}.ts`);
  const names = columns.map((_, n) => `written${n}`);
  return {
    map: JSON.stringify({ version: 3, sources, sourcesContent, names, mappings: mappings.join(',') }),
    script,
    columns,
  };
}
