/**
 * Maps and bundles from anybody, read in a process (ports/source-map-reader.ts): hostile ones cost
 * their owner alone.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { build } from 'esbuild-wasm';
import { ChildProcessSourceMaps } from '../../../adapters/sourcemaps/source-maps.js';
import { toFilePath } from '../../../adapters/sourcemaps/loaded-map.js';
import {
  SourceMapRejected,
  type PackedUpload,
  type ScriptPosition,
  type SourcePosition,
} from '../../../ports/source-map-reader.js';
import { archive, bundle, bytesOf } from './archives.js';

const plain = (text: string | Buffer): PackedUpload => {
  const bytes = Buffer.from(text);
  const size = bytes.length;
  return { file: { offset: 0, length: size, packed: size, size, form: 'plain' }, bytes: bytesOf(bytes) };
};

const mapOf = (over: object): string =>
  JSON.stringify({ version: 3, sources: ['../src/a.ts'], names: [], mappings: 'AAAA', ...over });
const FIRST = [{ line: 1, column: 1 }];
const BOUNDS = { silentMs: 60_000, idleMs: 1_000, heapMb: 160 };

async function why(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SourceMapRejected)) throw new Error('was not refused', { cause: error });
  return error.why;
}

describe('source maps in a separate process', function () {
  let maps: ChildProcessSourceMaps;
  let requested = 0;
  before(() => {
    maps = new ChildProcessSourceMaps();
  });
  after(() => maps.close());

  const locate = (
    map: string | Buffer,
    script: string | null,
    positions: readonly ScriptPosition[],
    owner = 'shop',
  ): Promise<(SourcePosition | null)[]> =>
    maps.locate({
      owner,
      id: String(++requested),
      positions,
      load: async () => ({ map: plain(map), script: script === null ? null : plain(script) }),
    });

  it('returns file, line, function and five lines of source for every form of function definition', async () => {
    const source = [
      'const shop = { price() { throw new Error("1"); } };',
      'class Cart {',
      '  #sum() { throw new Error("2"); }',
      '  static of = () => { throw new Error("3"); };',
      '  constructor() { if (globalThis.x) this.#sum(); throw new Error("4"); }',
      '}',
      'function plain() { throw new Error("5"); }',
      'const arrow = () => { throw new Error("6"); };',
      '[1].map(() => { throw new Error("7"); });',
      'export { shop, Cart, plain, arrow };',
    ].join('\n');
    const { outputFiles } = await build({
      stdin: { contents: source, sourcefile: 'src/shop.ts', loader: 'ts' },
      bundle: true,
      minify: true,
      sourcemap: 'external',
      format: 'iife',
      globalName: 'page',
      write: false,
      outfile: 'out.js',
    });
    const [map = '', script = ''] = ['.map', '.js'].map(
      (end) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '',
    );
    const lines = script.split('\n');
    const positions = [1, 2, 3, 4, 5, 6, 7].map((n) => {
      const line = lines.findIndex((text) => text.includes(`"${n}"`));
      return { line: line + 1, column: (lines[line]?.indexOf(`"${n}"`) ?? 0) + 1 };
    });
    const found = await locate(map, script, positions);
    expect(found.map((place) => [place?.file, place?.line, place?.function])).to.deep.equal([
      ['src/shop.ts', 1, 'price'],
      ['src/shop.ts', 3, 'Cart.#sum'],
      ['src/shop.ts', 4, 'Cart.of'],
      ['src/shop.ts', 5, 'new Cart'],
      ['src/shop.ts', 7, 'plain'],
      ['src/shop.ts', 8, 'arrow'],
      ['src/shop.ts', 9, null],
    ]);
    const all = source.split('\n');
    expect(found[4]?.source).to.deep.equal({ before: all.slice(1, 6), line: all[6], after: all.slice(7) });
    expect(found[0]?.source).to.deep.equal({ before: [], line: all[0], after: all.slice(1, 6) });
  });

  it('reads index maps and names from the map, and omits the function without a script', async () => {
    const map = JSON.stringify({
      version: 3,
      sections: [
        { offset: { line: 0, column: 0 }, map: JSON.parse(mapOf({})) as object },
        {
          offset: { line: 9, column: 0 },
          map: JSON.parse(mapOf({ sources: ['webpack://shop/./src/b.ts?1f'] })) as object,
        },
      ],
    });
    const found = await locate(map, null, [...FIRST, { line: 10, column: 1 }]);
    expect(found).to.deep.equal(
      ['src/a.ts', 'src/b.ts'].map((file) => ({ file, line: 1, column: 1, function: null, source: null })),
    );
  });

  it('returns nothing for positions outside a map, and for invalid numbers', async () => {
    expect(await locate(mapOf({}), null, [{ line: 9_000_000, column: 7 }, ...FIRST])).to.deep.include(null);
    // Source 1000, line -1, and a line far beyond the source.
    for (const mappings of ['Aw+BAA', 'AADA', 'AAggggBA']) {
      const found = await locate(mapOf({ mappings, sourcesContent: ['one line'] }), 'x()', FIRST);
      expect(found[0]?.source ?? null, mappings).to.equal(null);
    }
  });

  const hostile: [name: string, map: () => string | Buffer, says: RegExp][] = [
    ['no JSON', () => 'no map', /^is not valid JSON$/],
    ['a page in its place', () => '<!doctype html>', /^is not valid JSON$/],
    ['another object', () => '{"version":3}', /^is not a source map$/],
    ['a list', () => '[]', /^is not a source map$/],
    [
      'sections within sections',
      () =>
        '{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":'.repeat(20_000) + '1' + '}]}'.repeat(20_000),
      /^has sections within sections$/,
    ],
    ['names that are objects', () => mapOf({ names: [{}] }), /^has names that are not strings$/],
    [
      'more names than are read',
      () => mapOf({ names: Array.from({ length: 1_000_001 }, () => '') }),
      /^has more than 1000000 names$/,
    ],
    [
      'more sources than are read',
      () => mapOf({ sources: Array.from({ length: 100_001 }, () => 'a') }),
      /^has more than 100000 sources$/,
    ],
    [
      'more values than are counted',
      () => mapOf({ x: Array.from({ length: 2_500_000 }, () => 1) }),
      /^has more than 2500000 values$/,
    ],
    ['lists within lists', () => `{"mappings":"","x":${'['.repeat(100)}${']'.repeat(100)}}`, /^is nested too deeply$/],
    ['invalid mappings', () => mapOf({ mappings: 'AA=A' }), /^has damaged mappings$/],
    ['a larger size than is read', () => Buffer.alloc(49 * 1024 * 1024, ' '), /^is larger than \d+ bytes$/],
  ];
  for (const [name, map, says] of hostile) {
    it(`rejects ${name}`, async () => {
      expect(await why(locate(map(), null, FIRST))).to.match(says);
      expect(await locate(mapOf({}), null, FIRST)).to.have.length(1);
    });
  }

  it('never throws for maps with any content', async () => {
    const json = fc.jsonValue({ maxDepth: 4 });
    const field = fc.constantFrom(
      'version',
      'sources',
      'names',
      'mappings',
      'sections',
      'sourcesContent',
      'sourceRoot',
      'file',
    );
    await fc.assert(
      fc.asyncProperty(fc.dictionary(field, fc.oneof(json, fc.base64String())), async (fields) => {
        const found = await locate(JSON.stringify(fields), 'a(b)', FIRST).catch((error: unknown) => error);
        expect(Array.isArray(found) || found instanceof SourceMapRejected).to.equal(true);
      }),
      { numRuns: 60 },
    );
  });

  it('parses scripts of any depth, and omits functions of invalid scripts', async () => {
    for (const script of ['('.repeat(100_000), 'function a(){'.repeat(20_000), 'no script at all {{{', '']) {
      expect((await locate(mapOf({}), script, FIRST))[0]).to.include({ file: 'src/a.ts', function: null });
    }
  });

  it('extracts the scripts and maps of a bundle by their headers, case-insensitively', async () => {
    const id = 'AABBCCDDEEFF00112233445566778899';
    const files = await maps.unpack(
      'shop',
      bytesOf(
        bundle([
          {
            path: 'files/a.js',
            type: 'minified_source',
            url: '~/a.js',
            headers: { 'Debug-Id': id, Sourcemap: 'a.js.map' },
            text: 'a()',
          },
          {
            path: 'files/a.js.map',
            type: 'source_map',
            url: '~/a.js.map',
            headers: { 'debug-id': id.toLowerCase() },
            text: mapOf({}),
          },
          { path: 'files/a.css', type: 'other', url: '~/a.css', text: 'a{}' },
        ]),
      ),
    );
    const debugId = 'aabbccdd-eeff-0011-2233-445566778899';
    expect(files).to.have.length(2);
    expect(files[0]).to.include({ kind: 'script', url: '~/a.js', debugId, mapUrl: 'a.js.map', form: 'deflated' });
    expect(files[1]).to.include({ kind: 'map', url: '~/a.js.map', debugId, mapUrl: null });
  });

  it('finds a file by the manifest of the bundle, and inflates the file up to its limits', async () => {
    const whole = bundle([{ path: 'm', type: 'source_map', url: '~/m', text: mapOf({}) }]);
    const [file] = await maps.unpack('shop', bytesOf(whole));
    if (file === undefined) throw new Error('nothing was found');
    const load = async (): Promise<{ map: PackedUpload; script: null }> => ({
      map: { file, bytes: bytesOf(whole) },
      script: null,
    });
    expect(await maps.locate({ owner: 'shop', id: 'in a bundle', positions: FIRST, load })).to.have.length(1);
    // A bomb: it says that it is small.
    const bomb = archive([{ name: 'm', bytes: Buffer.alloc(200 * 1024 * 1024), says: { size: 10 } }], Buffer.alloc(0));
    const small = {
      offset: 0,
      length: bomb.length,
      packed: bomb.readUInt32LE(18),
      size: 10,
      form: 'deflated',
    } as const;
    const explode = async (): Promise<{ map: PackedUpload; script: null }> => ({
      map: { file: small, bytes: bytesOf(bomb) },
      script: null,
    });
    expect(await why(maps.locate({ owner: 'shop', id: 'bomb', positions: FIRST, load: explode }))).to.match(
      /^is larger than/,
    );
  });

  const broken: [name: string, bytes: () => Buffer, says: RegExp][] = [
    ['nothing', () => Buffer.alloc(0), /^is not a zip archive$/],
    ['noise', () => Buffer.alloc(100_000, 'PK'), /^is not a zip archive$/],
    ['no manifest', () => archive([{ name: 'a', bytes: Buffer.from('a') }]), /^has no manifest\.json$/],
    [
      'a manifest that is no JSON',
      () => archive([{ name: 'manifest.json', bytes: Buffer.from('{') }]),
      /^has a manifest that is not valid JSON$/,
    ],
    [
      'a manifest without files',
      () => archive([{ name: 'manifest.json', bytes: Buffer.from('{}') }]),
      /^has a manifest without files$/,
    ],
    [
      'a manifest that explodes',
      () => archive([{ name: 'manifest.json', bytes: Buffer.alloc(9 * 1024 * 1024), says: { size: 2 } }]),
      /^is larger than/,
    ],
    [
      'a file outside',
      () => archive([{ name: 'manifest.json', bytes: Buffer.from('{}'), says: { offset: 4_000_000 } }]),
      /^has a file outside its bounds$/,
    ],
    [
      'a file of another method',
      () => archive([{ name: 'manifest.json', bytes: Buffer.from('{}'), says: { method: 99 } }]),
      /^has a file that is neither/,
    ],
    [
      'an encrypted file',
      () => archive([{ name: 'manifest.json', bytes: Buffer.from('{}'), says: { flags: 1 } }]),
      /^has an encrypted file$/,
    ],
    [
      'sizes and places of zip64',
      () =>
        archive([
          { name: 'manifest.json', bytes: Buffer.from('{}'), says: { packed: 2 ** 32 - 1, offset: 2 ** 32 - 1 } },
        ]),
      /^has a file outside its bounds$/,
    ],
    [
      'two files in one place',
      () =>
        archive([
          { name: 'manifest.json', bytes: Buffer.from('{"files":{}}') },
          { name: 'other', bytes: Buffer.from('x'), says: { offset: 8 } },
        ]),
      /^has files that overlap$/,
    ],
    [
      'too many files',
      () => archive(Array.from({ length: 10_001 }, (_, i) => ({ name: String(i), bytes: Buffer.alloc(0) }))),
      /^has more than 10000 files$/,
    ],
  ];
  for (const [name, bytes, says] of broken) {
    it(`rejects a bundle with ${name}`, async () => {
      expect(await why(maps.unpack('shop', bytesOf(bytes())))).to.match(says);
    });
  }

  it('shortens source file names', () => {
    const names: [string, string][] = [
      ['webpack:///./src/cart.ts', 'src/cart.ts'],
      ['webpack://shop/src/cart.ts?4f2a', 'src/cart.ts'],
      ['../../../src/cart.ts', 'src/cart.ts'],
      ['file:///home/ann/shop/src/cart.ts', 'home/ann/shop/src/cart.ts'],
      ['https://cdn.example/lib.js', 'cdn.example/lib.js'],
      ['', ''],
    ];
    for (const [source, file] of names) expect(toFilePath(source), source).to.equal(file);
  });
});

describe('CPU-intensive source maps', function () {
  const good = mapOf({});

  const ask = (maps: ChildProcessSourceMaps, owner: string, map: string): Promise<unknown> =>
    maps.locate({
      owner,
      id: `${owner}:${map.length}`,
      positions: FIRST,
      load: async () => ({ map: plain(map), script: null }),
    });
  const refusal = async (work: Promise<unknown>): Promise<SourceMapRejected> => {
    const error = await work.catch((reason: unknown) => reason);
    if (!(error instanceof SourceMapRejected)) throw new Error('was not refused', { cause: error });
    return error;
  };

  it('limits an owner to its share of CPU time', async () => {
    const maps = new ChildProcessSourceMaps({ bounds: BOUNDS, shareMs: 1 });
    try {
      expect(await ask(maps, 'hostile', mapOf({ mappings: 'AAAA,'.repeat(2_000_000) }))).to.have.length(1);
      expect(await refusal(ask(maps, 'hostile', good))).to.include({ lasting: false });
      expect(await ask(maps, 'other', good)).to.have.length(1);
    } finally {
      await maps.close();
    }
  });

  it('restarts a killed reader process without rejecting its map', async () => {
    const maps = new ChildProcessSourceMaps({ bounds: BOUNDS });
    try {
      await ask(maps, 'shop', good);
      const { pid } = maps;
      const requested = refusal(
        maps.locate({
          owner: 'shop',
          id: 'killed',
          positions: FIRST,
          load: async () => {
            process.kill(pid ?? 0, 'SIGKILL');
            return { map: plain(good), script: null };
          },
        }),
      );
      expect(await requested).to.include({ lasting: false });
      expect(await ask(maps, 'other', good)).to.have.length(1);
      expect(maps.pid).not.to.equal(pid);
    } finally {
      await maps.close();
    }
  });

  it('terminates a reader process that does not respond', async () => {
    const maps = new ChildProcessSourceMaps({ bounds: { ...BOUNDS, silentMs: 1 } });
    try {
      expect(await refusal(ask(maps, 'shop', good))).to.include({ why: 'was not read in time', lasting: false });
    } finally {
      await maps.close();
    }
  });
});
