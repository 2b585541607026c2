/**
 * OpenTelemetry's own SDKs against the running program: only its address and a key are set
 * (contract 21, Beyond the specification).
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { SHORT_RUN_JAVA_OPTIONS } from '../../support/programs.js';
import { TestService } from '../../support/service.js';
import { CACHE, REQUIRED } from './programs.js';

const SLOW_MS = 120_000;
const NODE = join(CACHE, 'otlpnode');
const GO = join(CACHE, 'otlpgo', 'logs');
const JAVA = join(CACHE, 'otlpjava', 'lib');
const PYTHON = join(CACHE, 'otlppython');
const suite = REQUIRED || [NODE, PYTHON, GO, JAVA].every((path) => existsSync(path)) ? describe : describe.skip;
const run = promisify(execFile);
const program = (name: string): string => fileURLToPath(new URL(`otlp/${name}`, import.meta.url));

type Loose = Record<string, unknown>;

suite('logs of OpenTelemetry’s SDKs', () => {
  let service: TestService;
  let reader: string;
  before(async () => {
    service = await TestService.createInProcess();
    reader = await service.createToken('bugtracker:read,projects:manage');
  });
  after(() => service.dispose());

  /**
   * The one item that the program's log makes in a project of its own, reported with its public
   * key.
   */
  async function itemOf(slug: string, command: string, args: readonly string[], env = {}): Promise<Loose | undefined> {
    const projects = '/api/projects/v1/projects';
    await service.request('POST', projects, reader, { slug });
    const { body } = await service.request('POST', `${projects}/${slug}/intake-keys`, reader, {});
    await run(command, args, {
      env: {
        PATH: process.env['PATH'],
        OTEL_EXPORTER_OTLP_ENDPOINT: service.url,
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${String(body['key'])}`,
        ...env,
      },
      timeout: SLOW_MS,
    });
    const list = await service.request('GET', `/api/bugtracker/v1/bugs?project=${slug}`, reader);
    const [item, ...others] = list.body['items'] as Loose[];
    expect(others).to.deep.equal([]);
    return item;
  }

  const ERROR = { error_level: 'error', first_build: '1.4.2', hit_count: 1, source: 'sdk' };
  const CART = { ...ERROR, title: 'CartError: the cart has no lines' };

  it('arrive from Python', async () => {
    const env = { PYTHONPATH: PYTHON, PYTHONDONTWRITEBYTECODE: '1' };
    const item = await itemOf('python', 'python3', [program('report.py')], env);
    expect(item).to.include(CART);
    expect(item?.['stack_trace']).to.match(/^Traceback [^]* in total\n/);
  });

  it('arrive from Go', async () => {
    const item = await itemOf('go', GO, []);
    expect(item).to.include({
      ...ERROR,
      error_message: 'the cart has no lines',
      exception_class: '*errors.errorString',
    });
    expect(item?.['stack_trace']).to.match(/^goroutine 1 /);
  });

  it('arrive from Java, through its Logback appender', async () => {
    const env = {
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_TRACES_EXPORTER: 'none',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_SERVICE_NAME: 'shop',
      OTEL_RESOURCE_ATTRIBUTES: 'service.version=1.4.2',
    };
    const item = await itemOf(
      'java',
      'java',
      [...SHORT_RUN_JAVA_OPTIONS, '-cp', join(JAVA, '*'), program('java/Report.java')],
      env,
    );
    expect(item).to.include({ ...ERROR, error_message: 'the cart has no lines' });
    expect(item?.['exception_class']).to.match(/^Report[.$]CartError$/);
    expect(item?.['stack_trace']).to.match(/^Report\$CartError: the cart has no lines\r?\n\tat Report\.total\(/);
  });

  for (const encoding of ['http', 'proto']) {
    it(`arrive from Node, through its exporter "${encoding}"`, async () => {
      await mkdir(NODE, { recursive: true });
      // Beside the packages that it imports.
      const copy = join(NODE, 'report.mjs');
      await copyFile(program('report.mjs'), copy);
      const item = await itemOf(`node-${encoding}`, process.execPath, [copy, encoding]);
      expect(item).to.include(CART);
      expect(item?.['stack_trace']).to.match(/^CartError: [^\n]*\n    at total /);
    });
  }
});
