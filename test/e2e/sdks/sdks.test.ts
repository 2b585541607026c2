/**
 * Sentry's real SDKs against the running program (contract 21, Sentry SDK intake): nothing of them
 * is changed but the DSN.
 */
import { expect } from 'chai';
import { parseFrames } from '../../../plugins/bugs/grouping/stack-trace.js';
import { computeGrouping } from '../../../plugins/bugs/grouping/grouping-key.js';
import { TestService } from '../../support/service.js';
import { isPrepared, NODE, OTHERS, REQUIRED, run, type Program } from './programs.js';
import { startStopwatch } from '../../support/cpu-time.js';

type Loose = Record<string, unknown>;

/** A service, and a token that makes projects and reads what came of them. */
interface Site {
  service: TestService;
  token: string;
}

async function site(env: Record<string, string> = {}): Promise<Site> {
  const service = await TestService.createInProcess(env);
  return { service, token: await service.createToken('bugtracker:read,projects:manage,system:read') };
}

/** A new project's DSN, as the API tells it. */
async function dsnOf({ service, token }: Site, slug: string): Promise<string> {
  const projects = '/api/projects/v1/projects';
  await service.request('POST', projects, token, { slug });
  const { body } = await service.request('POST', `${projects}/${slug}/intake-keys`, token, {});
  return String(body['dsn']);
}

/**
 * How often the envelope path was answered, by class of status, and how often a limit was the
 * reason anywhere.
 */
async function answered({ service, token }: Site): Promise<Map<string, number>> {
  const response = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const lines = (await response.text()).matchAll(
    /^aos_http_(?:requests_total\{route="\/api\/\{number\}\/envelope\/",method="POST",status="(\dxx)"|errors_total\{code="(rate_limited)")\} (\d+)$/gm,
  );
  return new Map([...lines].map(([, status, code, count]) => [status ?? code ?? '', Number(count)]));
}

const since = (earlier: Map<string, number>, now: Map<string, number>): Map<string, number> =>
  new Map([...now].map(([s, n]): [string, number] => [s, n - (earlier.get(s) ?? 0)]).filter(([, n]) => n > 0));

async function groups({ service, token }: Site, project: string): Promise<Loose[]> {
  const list = await service.request('GET', `/api/bugtracker/v1/bugs?project=${project}`, token);
  const items = list.body['items'] as { id: string }[];
  const details = items.map(({ id }) => service.request('GET', `/api/bugtracker/v1/bugs/${id}`, token));
  return (await Promise.all(details)).map(({ body }) => body);
}

const itemOf = (group: Loose | undefined): Loose => (group?.['item'] ?? {}) as Loose;
const occurrencesOf = (group: Loose | undefined): Loose[] => (group?.['occurrences'] ?? []) as Loose[];

/** Programs do not meet: each has a project and a key of its own. */
interface Sites {
  open: Site;
  /** Three calls, then one a minute. */
  narrow: Site;
}

function suite(program: Program, sites: () => Sites): void {
  const { name, expected } = program;

  describe(`${name}: reports`, () => {
    let found: Loose[] = [];
    let error: Loose | undefined;
    let message: Loose | undefined;
    let calls: Map<string, number>;
    const began = Date.now();

    before(async () => {
      const { open } = sites();
      const earlier = await answered(open);
      await run(program, 'report', await dsnOf(open, name));
      calls = since(earlier, await answered(open));
      found = await groups(open, name);
      error = found.find((group) => itemOf(group)['exception_class'] !== null);
      message = found.find((group) => itemOf(group)['exception_class'] === null);
    });

    it('groups two equal errors together, and two equal messages together', () => {
      expect(found).to.have.length(2);
      expect(itemOf(error)).to.include({ type: 'error', hit_count: 2, source: 'sdk' });
      expect(itemOf(message)).to.include({ title: 'stock is low', hit_count: 2, error_level: 'warning' });
    });

    it('accepts sessions and transactions in the same stream, and stores none of them as items', () => {
      expect([...calls.keys()]).to.deep.equal(['2xx']);
      expect(calls.get('2xx')).to.be.greaterThan(4);
    });

    it('returns the class, the message and the crashing frame', () => {
      const item = itemOf(error);
      expect(item['exception_class']).to.equal(expected.type);
      expect(item['error_message']).to.equal("the cart 'A-1001' has no price");
      expect(item['error_level']).to.equal('error');
      expect(item['file_path']).to.match(expected.file);
      const crash = parseFrames(String(item['stack_trace'])).find((frame) => frame.crash);
      expect(crash).to.deep.include({ file: item['file_path'], line_no: item['line_no'], function: expected.function });
    });

    it('returns the causes', () => {
      expect(itemOf(error)['stack_trace']).to.include(expected.cause);
    });

    it('groups by file and function', () => {
      const item = itemOf(error);
      const { dedup_key } = computeGrouping({
        type: 'error',
        project: name,
        exception_class: expected.type,
        error_message: String(item['error_message']),
        file_path: String(item['file_path']),
        // The SDKs state it without its package.
        function_name: expected.function.split('.').at(-1) ?? '',
      });
      expect(item['dedup_key']).to.equal(dedup_key);
    });

    it('includes version, environment, host and tags', () => {
      for (const group of [error, message]) {
        expect(itemOf(group)).to.include({ app_version: '1.4.2', environment: 'production' });
        expect(itemOf(group)['tags']).to.deep.equal(['shop:eu']);
        expect(occurrencesOf(group)[0]?.['host']).to.equal('web-1');
      }
    });

    it('stores each event under its own id and time', () => {
      const refs = [...occurrencesOf(error), ...occurrencesOf(message)].map((one) => one['client_ref']);
      expect(new Set(refs).size).to.equal(4);
      for (const ref of refs) expect(ref).to.match(/^[0-9a-f]{32}$/);
      for (const { occurred_at } of occurrencesOf(error)) {
        expect(Date.parse(String(occurred_at))).to.be.within(began - 1000, Date.now());
      }
    });

    it('stores breadcrumbs and contexts with the occurrence, without the user’s name', () => {
      const [newest] = occurrencesOf(error);
      const crumbs = newest?.['breadcrumbs'] as Loose[];
      expect(crumbs[0]).to.include({ category: 'cart', message: 'opened' });
      expect(crumbs[0]?.['timestamp']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      const context = newest?.['context'] as { contexts: { cart: Loose } };
      expect(JSON.stringify(newest)).to.not.match(/"4711"|"jane"/);
      expect(context.contexts.cart).to.include({ id: 'A-1001', items: 3 });
    });
  });

  const { cases } = program;
  if (cases !== undefined)
    it(`${name}: distinguishes similar errors, and uses their cause as title`, async () => {
      const { open } = sites();
      await run(program, 'cases', await dsnOf(open, `${name}-cases`));
      const made = (await groups(open, `${name}-cases`)).map((group) => {
        const { title, file_path, hit_count } = itemOf(group);
        return [title, String(file_path).split('/').at(-1), hit_count];
      });
      expect(made).to.have.deep.members(cases);
    });

  it(`${name}: stops sending for the Retry-After time of a 429`, async () => {
    const { narrow } = sites();
    const earlier = await answered(narrow);
    const dsn = await dsnOf(narrow, name);
    const passed = startStopwatch();
    await run(program, 'limited', dsn);
    // On a machine so slow that the minute is over, the SDK rightly tries once more.
    const minutes = Math.floor(passed() / 60_000);
    const calls = since(earlier, await answered(narrow));
    expect([...calls.keys()]).to.have.members(['2xx', '4xx', 'rate_limited']);
    expect(calls.get('rate_limited')).to.equal(calls.get('4xx'));
    // Sessions and the like have limits of their own.
    expect(calls.get('2xx')).to.be.at.least(3);
    expect(calls.get('4xx')).to.be.within(1, 1 + minutes);
    const hits = (await groups(narrow, name)).map((group) => Number(itemOf(group)['hit_count']));
    // Node begins with a session that nobody asked for.
    expect(hits.reduce((sum, n) => sum + n, 0)).to.be.within(2, 3 + minutes);
  });
}

const missing = OTHERS.filter((program) => !isPrepared(program));
if (missing.length > 0 && !REQUIRED) {
  const names = missing.map(({ name }) => name).join(', ');
  process.stderr.write(`Sentry SDK suites skipped: ${names} (bash test/e2e/sdks/prepare.sh gets what they need)\n`);
}

describe('sentry sdks', () => {
  let sites: Sites;
  before(async () => {
    const narrow = { SVC_LIMITS__INTAKE_BURST: '3', SVC_LIMITS__INTAKE_PER_MINUTE: '1' };
    sites = { open: await site(), narrow: await site(narrow) };
  });
  after(async () => {
    await sites.open.service.dispose();
    await sites.narrow.service.dispose();
  });

  suite(NODE, () => sites);
  for (const program of OTHERS) {
    if (isPrepared(program) || (REQUIRED && program.optional !== true)) suite(program, () => sites);
    else it.skip(`${program.name}: is not installed`);
  }
});
