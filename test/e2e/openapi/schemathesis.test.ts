/**
 * openapi.json and the running service held against each other by schemathesis: requests made from
 * every operation's schema, answers judged by their status, headers and schema. Each operation gets
 * a few requests; SVC_TEST_SCHEMATHESIS_SECONDS (120 in .ci/run) gives more time, in which as many
 * are judged as the machine gets through. The requests are the same every time, so that what failed
 * once fails again.
 */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SHARED_KEY, TestService } from '../../support/service.js';
import { run, TOOLS } from './programs.js';
import { isAvailable } from '../../support/requirements.js';

const SECONDS = Number(process.env['SVC_TEST_SCHEMATHESIS_SECONDS'] ?? 0);
/** What an operation is asked for; more where there is time. */
const EXAMPLES = SECONDS > 0 ? '4' : '1';
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
].join(',');
const SCOPES = [
  'bugtracker:report',
  'bugtracker:manage',
  'watchdog:ping',
  'watchdog:manage',
  'webhooks:manage',
  'projects:manage',
].join(',');
/** Every limit off: what is judged is the answers, not how many there may be. */
const NO_LIMITS = Object.fromEntries(
  [
    'INTAKE_PER_MINUTE',
    'API_PER_MINUTE',
    'BULK_PER_MINUTE',
    'AUTH_FAILURES_PER_MINUTE',
    'PUBLIC_PER_MINUTE',
    'NEW_GROUPS_PER_HOUR',
    'MONITORS_PER_TOKEN',
  ].map((name) => [`SVC_LIMITS__${name}`, '0']),
);
/** Takes the shared key alone. */
const OF_THE_SHARED_KEY = ['/api/watchdog/v1/evaluate', '/api/admin/v1/migrate', '/install_db.php'];

describe('openapi.json with schemathesis', function () {
  this.timeout(SECONDS * 2_000 + 300_000);
  let service: TestService;
  let folder: string;
  before(async function () {
    if (!isAvailable('schemathesis', existsSync(join(TOOLS, '.complete')))) this.skip();
    service = await TestService.createInProcess(NO_LIMITS);
    await service.createProject('shop');
    folder = await mkdtemp(join(tmpdir(), 'aos-schemathesis-'));
    await writeFile(join(folder, 'openapi.json'), await (await fetch(`${service.url}/api/openapi.json`)).text());
  });
  after(async () => {
    await service?.dispose();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  /**
   * Each operation that is selected; then, where there is time, more of everything. @param share of
   * the time
   */
  async function checked(credential: string, share: number, ...which: string[]): Promise<number> {
    const each = await requested(credential, '--phases', 'fuzzing', '--max-examples', EXAMPLES, ...which);
    const [, selected, tested] = /Selected: (\d+)\/\d+\s+Tested: (\d+)/.exec(each) ?? [];
    expect(tested, each.slice(-2_000)).to.be.a('string').and.equal(selected);
    if (SECONDS > 0) await requested(credential, '--max-time', String(Math.ceil(SECONDS * share)), ...which);
    return Number(tested);
  }

  async function requested(credential: string, ...which: string[]): Promise<string> {
    const [code, output] = await run(
      'python3',
      [
        '-m',
        'schemathesis.cli',
        'run',
        'openapi.json',
        '--url',
        service.url,
        '-H',
        `Authorization: Bearer ${credential}`,
        '-c',
        CHECKS,
        // `action=next` with `wait_seconds` answers after 25 s where there is no work; the tool
        // gives up after 10 by itself.
        '--request-timeout',
        '40',
        '--suppress-health-check',
        'all',
        '--generation-deterministic',
        ...which,
      ],
      { PYTHONPATH: join(TOOLS, 'python') },
      folder,
    );
    expect(code, output.slice(-20_000)).to.equal(0);
    return output;
  }

  it('passes for every operation with a token that has all scopes', async () => {
    const token = await service.createToken(SCOPES);
    const operations = await checked(token, 1, '--exclude-operation-id', 'revokeOwnToken');
    expect(operations).to.be.at.least(70);
  });

  it('passes for the deletion of the token in use', async () => {
    await checked(await service.createToken('bugtracker:report'), 1 / 12, '--include-operation-id', 'revokeOwnToken');
  });

  it('passes for the operations with the shared key', async () => {
    await checked(SHARED_KEY, 1 / 6, ...OF_THE_SHARED_KEY.flatMap((path) => ['--include-path', path]));
  });
});
