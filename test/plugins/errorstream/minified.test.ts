/**
 * Minified traces of the application's own reports become readable before they are grouped
 * (contract 21).
 */
import { expect } from 'chai';
import { definePlugin } from '../../../kernel/contract/index.js';
import otlp from '../../../plugins/otlp/plugin.js';
import { findScriptFrames, replaceFrames } from '../../../plugins/errorstream/text-frames.js';
import { FRAME_REWRITER, type FrameRewriteRequest, type FrameRewriter } from '../../../ports/domain/frame-rewriting.js';
import type { SourcePosition } from '../../../ports/source-map-reader.js';
import { expectLinear } from '../../support/cpu-time.js';
import type { Loose } from '../../adapters/hapi/support.js';
import { error, Fixture, TOKEN } from './fixture.js';

const APP = 'https://shop.example/assets/app.js';
const SOURCE = { before: ['// cart', ''], line: 'throw new Error()', after: ['}'] };
const TOTAL: SourcePosition = { file: 'src/cart.ts', line: 9, column: 5, function: 'total', source: SOURCE };
const PAGE: SourcePosition = { file: 'src/main.ts', line: 3, column: 1, function: null, source: null };

const V8 = [
  'RangeError: no price',
  `    at t.x (${APP}:1:100)`,
  `    at async ${APP}?v=2:1:200`,
  `    at e (${APP}:1:300)`,
  '    at Array.forEach (<anonymous>)',
].join('\n');

describe('errorstream: minified traces', () => {
  it('are parsed in the formats of all engines, and rewritten in the same format', () => {
    const forms = `${V8}\nt@${APP}:1:100\n@${APP}:1:200\nglobal code@${APP}:2:1\n   at shop.Cart.total(Cart.java:12)`;
    const frames = findScriptFrames(forms);
    expect(frames.map(({ function: name, line, column }) => [name, line, column])).to.deep.equal([
      ['t.x', 1, 100],
      ['', 1, 200],
      ['e', 1, 300],
      ['t', 1, 100],
      ['', 1, 200],
      ['global code', 2, 1],
    ]);
    const positions = [TOTAL, PAGE, null, TOTAL, PAGE, null];
    expect(replaceFrames(forms, frames, positions).split('\n')).to.deep.equal([
      'RangeError: no price',
      '    at total (src/cart.ts:9:5)',
      '    at src/main.ts:3:1',
      `    at e (${APP}:1:300)`,
      '    at Array.forEach (<anonymous>)',
      'total@src/cart.ts:9:5',
      '@src/main.ts:3:1',
      `global code@${APP}:2:1`,
      '   at shop.Cart.total(Cart.java:12)',
    ]);
  });

  it('are parsed in linear time for hostile text', () => {
    const pieces = [':1:1', '(', ' (', 'at ', '@', 'https://', '.js', '/', '\n', ':', 'a'];
    expectLinear(() => {
      for (const piece of pieces) findScriptFrames(`    at ${piece.repeat(60_000)}:1:1`);
    });
  });

  describe('over HTTP', () => {
    let fixture: Fixture;
    let requested: FrameRewriteRequest[];
    /** The project `alpha` has maps of one release. */
    const rewriter: FrameRewriter = {
      hasNoMaps: (project) => project !== 'alpha',
      rewrite: async (question) => {
        requested.push(question);
        const known = question.release === 'alpha@1.4.2';
        return {
          frames: question.frames.map(({ column }) =>
            known ? (column === 100 ? TOTAL : column === 200 ? PAGE : null) : null,
          ),
          missing: [],
          late: [],
        };
      },
    };
    const maps = definePlugin({
      id: 'maps',
      version: '1.0.0',
      api: 1,
      title: 'Maps',
      provides: [FRAME_REWRITER.name],
      setup: () => ({ services: { [FRAME_REWRITER.name]: rewriter } }),
    });
    beforeEach(async () => {
      requested = [];
      fixture = await Fixture.create({}, {}, [maps, otlp]);
    });
    afterEach(() => fixture.stop());
    const minified = (fields: object = {}): object =>
      error({ file: null, app_version: '1.4.2', stack_trace: V8, ...fields });
    const shown = async (id: unknown): Promise<{ item: Loose; context: Loose }> => {
      const { item, occurrences } = await fixture.detail(String(id));
      return { item, context: occurrences[0]?.['context'] as Loose };
    };

    it('are resolved with the source maps of the version, and the raw trace is stored', async () => {
      const { body } = await fixture.post(minified());
      expect(requested.map(({ release }) => release)).to.deep.equal(['1.4.2', 'alpha@1.4.2']);
      const { item, context } = await shown(body['id']);
      expect(item).to.include({ file_path: 'src/cart.ts', line_no: 9 });
      expect(item['stack_trace']).to.include('    at total (src/cart.ts:9:5)\n    at src/main.ts:3:1\n');
      expect(context).to.deep.equal({
        raw_stack_trace: V8,
        source: { 7: '// cart', 8: '', 9: 'throw new Error()', 10: '}' },
      });
    });

    it('are grouped with reports of the original source, alone and in a list', async () => {
      const { body } = await fixture.post(minified());
      const stated = await fixture.post(error({ file: 'src/cart.ts' }));
      const own = minified({ file: APP, line: 1 });
      const list = await fixture.post([own, minified(), error({ file: null, stack_trace: 'x' })]);
      const results = list.body['results'] as unknown as Loose[];
      expect([stated.body['id'], ...results.slice(0, 2).map(({ id }) => id)]).to.deep.equal(
        Array.from({ length: 3 }, () => body['id']),
      );
      expect(results).to.have.length(3);
    });

    it('are resolved in OpenTelemetry logs too', async () => {
      const text = (key: string, stringValue: string): object => ({ key, value: { stringValue } });
      const record = {
        attributes: [
          text('exception.type', 'TypeError'),
          text('exception.message', 'x is undefined'),
          text('exception.stacktrace', V8),
          text('code.function', 't'),
        ],
      };
      const resource = { attributes: [text('service.version', '1.4.2'), text('service.name', 'alpha')] };
      const payload = JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] });
      const headers = { 'content-type': 'application/json' };
      const answer = await fixture.server.ask('POST', '/v1/logs', { bearer: TOKEN, payload, headers });
      expect([answer.status, answer.body]).to.deep.equal([200, {}]);
      const list = await fixture.server.ask('GET', '/api/bugtracker/v1/bugs', { bearer: 'master:bugtracker:read' });
      const [found] = list.body['items'] as unknown as Loose[];
      const { item, context } = await shown(found?.['id']);
      expect(item).to.include({ file_path: 'src/cart.ts', line_no: 9 });
      expect(item['stack_trace']).to.include('    at total (src/cart.ts:9:5)');
      expect(context).to.include({ raw_stack_trace: V8 });
    });

    it('remain unchanged without a version, for other files and in other projects', async () => {
      const unversioned = await fixture.post(minified({ app_version: null }));
      expect((await shown(unversioned.body['id'])).item['stack_trace']).to.equal(V8);
      const other = await fixture.post(minified({ file: 'lib/own.ts', error_message: 'another' }));
      expect((await shown(other.body['id'])).item).to.include({ file_path: 'lib/own.ts' });
      requested = [];
      await fixture.post(minified({ project: 'beta' }));
      expect(requested).to.deep.equal([]);
    });
  });
});
