/**
 * Thousands of requests to every route, made from its own schema: no answer is a 5xx, every error
 * is the envelope, the process lives and its memory stays flat (contract 00, envelope). The seed is
 * in every failure's message.
 */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import fc from 'fast-check';
import { sendRequest } from '../../../lib/http/send-request.js';
import { scaleRepeats } from '../../support/repeat-budget.js';
import { SHARED_KEY, TestService } from '../../support/service.js';
import { requests, type Description, type FuzzRequest } from '../../fuzz/requests.js';

/** Without the envelope, errors included (contract 50). */
const BARE = /^\/api\/license\/v1\/(validate|deactivate|file|pubkey)$/;
const REQUESTS = scaleRepeats(2_500);
const AT_ONCE = 8;
/** The same requests every time; `FUZZ_SEED` asks for others. */
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
const SCOPES =
  'bugtracker:report,bugtracker:read,bugtracker:manage,projects:manage,watchdog:ping,watchdog:read,watchdog:manage,webhooks:manage';
const UNLIMITED = Object.fromEntries(
  ['INTAKE_PER_MINUTE', 'API_PER_MINUTE', 'BULK_PER_MINUTE', 'PUBLIC_PER_MINUTE', 'AUTH_FAILURES_PER_MINUTE'].map(
    (name) => [`SVC_LIMITS__${name}`, '0'],
  ),
);
/**
 * Memory is read where the system tells it; growth allowed from the half of the requests to their
 * end.
 */
const STATUS = (pid: number): string => `/proc/${pid}/status`;
const GROWTH_BYTES = 48 * 2 ** 20;
/** A heap this small ends the process when something is kept for every request. */
const HEAP = '--max-old-space-size=160';

async function residentBytes(pid: number): Promise<number | null> {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(STATUS(pid), 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Null for what is no JSON: the caller knows the request that goes with it. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

describe(`fuzz: every route from its own schema (seed ${SEED})`, function () {
  this.timeout(600_000);
  let service: TestService;
  let tokens: Record<'full' | 'reader', string>;
  let expendable: string[];
  let words: string[];

  before(async () => {
    // `public-only`: a webhook to anywhere near is refused; names under .invalid lead nowhere.
    service = await TestService.createStarted({
      ...UNLIMITED,
      NODE_OPTIONS: HEAP,
      SVC_WEBHOOKS__EGRESS_POLICY: 'public-only',
      SVC_LOG_LEVEL: 'silent',
    });
    await service.createProject('shop');
    await service.createProject('lab');
    tokens = {
      full: await service.createToken(SCOPES),
      reader: await service.createToken('bugtracker:read,watchdog:read'),
    };
    expendable = await Promise.all(Array.from({ length: 5 }, () => service.createToken(SCOPES)));
    words = await seeded();
  });
  after(() => service.dispose());

  /** Something of every kind, so that ids hit. */
  async function seeded(): Promise<string[]> {
    const found = ['shop', 'lab', 'shop-1', 'web-1', 'error', 'open', 'critical', 'web', '1.2.3'];
    const ask = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
      const answer = await service.request('POST', path, tokens.full, body);
      expect(answer.status, path).to.equal(201);
      return answer.body;
    };
    for (let i = 0; i < 5; i++) {
      const report = { project: 'shop', title: `bug ${i}`, file_path: `src/${i}.ts`, client_ref: `ref-${i}` };
      found.push(String((await ask('/api/bugtracker/v1/report', report))['id']), `ref-${i}`);
    }
    const error = { project: 'shop', error_level: 'error', error_message: 'boom', exception_class: 'Failure' };
    found.push(String((await ask('/api/errors/v1/report', error))['id']));
    await ask('/api/watchdog/v1/ping', { source: 'web-1', status: 'ok', metrics: { cpu: 0.5 } });
    const webhook = { name: 'fuzz', url: 'https://hooks.invalid/x', events: '*', enabled: true };
    const made = (await ask('/api/webhooks/v1/webhooks', webhook))['webhook'] as { id: string };
    found.push(made.id);
    return found;
  }

  function credentialOf(kind: FuzzRequest['credential'], turn: number): string | null {
    if (kind === 'none') return null;
    if (kind === 'shared') return SHARED_KEY;
    if (kind === 'garbage') return 'wd_live_0000000000000000000000000000';
    return kind === 'expendable' ? (expendable[turn % expendable.length] ?? null) : tokens[kind];
  }

  async function send(request: FuzzRequest, turn: number): Promise<number> {
    const credential = credentialOf(request.credential, turn);
    const hasBody = request.body !== undefined && request.method !== 'GET';
    // Dots in a path lead elsewhere before it is sent.
    const address = new URL(service.url + request.path);
    const { pathname } = address;
    const authorization: Record<string, string> = credential === null ? {} : { authorization: `Bearer ${credential}` };
    const { status, body } = await sendRequest(address, {
      method: request.method,
      headers: { accept: '*/*', ...request.headers, ...authorization },
      ...(hasBody ? { body: request.body as string } : {}),
      env: {},
      responseTimeoutMs: 60_000,
      bodyTimeoutMs: 60_000,
    });
    const content = await text(body);
    const shown = (): string =>
      `seed ${SEED}, request ${turn}: ${JSON.stringify(request).slice(0, 2000)} → ${status} ${content.slice(0, 500)}`;
    const unhealthy = status === 503 && request.path.startsWith('/api/health');
    if (status >= 500 && !unhealthy) throw new Error(shown());
    if (status >= 400 && pathname.startsWith('/api/') && !unhealthy) {
      const envelope = jsonOf(content) as { status?: unknown; message?: unknown; error?: { code?: unknown } } | null;
      const good = BARE.test(pathname)
        ? typeof envelope?.status === 'string' && envelope.error === undefined && typeof envelope.message === 'string'
        : envelope?.status === 'error' && typeof envelope.error?.code === 'string';
      if (!good) throw new Error(shown());
    }
    return status;
  }

  it(`returns no 5xx, errors in the envelope, and uses constant memory for ${REQUESTS} requests`, async () => {
    const description = (await service.request('GET', '/api/openapi.json', null)).body as unknown as Description;
    const known = { words, expendable: ['lab', 'none-such', ...words.slice(-1)] };
    const generated = fc.sample(requests(description, known), { numRuns: REQUESTS, seed: SEED });
    const statuses = new Map<number, number>();
    const resident: number[] = [];
    const pid = service.child?.pid ?? 0;
    let next = 0;
    const caller = async (): Promise<void> => {
      for (let turn = next++; turn < generated.length; turn = next++) {
        const status = await send(generated[turn] as FuzzRequest, turn);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (turn % (REQUESTS / 20) === 0) resident.push((await residentBytes(pid)) ?? 0);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, caller));
    expect(service.child?.exitCode, service.stderr).to.equal(null);
    // The fuzzing got through to the services: a run that only met closed doors proves nothing.
    const through = [200, 201].reduce((sum, status) => sum + (statuses.get(status) ?? 0), 0);
    expect(through, JSON.stringify([...statuses])).to.be.greaterThan(REQUESTS / 20);
    const half = resident.slice(Math.floor(resident.length * 0.4), Math.floor(resident.length * 0.6));
    const growth = Math.max(...resident.slice(-3)) - Math.max(...half);
    const megabytes = resident.map((bytes) => Math.round(bytes / 2 ** 20)).join(' ');
    expect(growth, `resident, MiB: ${megabytes}`).to.be.at.most(GROWTH_BYTES);
  });
});
