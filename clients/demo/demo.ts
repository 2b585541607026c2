/**
 * `npm run demo`: a small story through the real interfaces of the running service. Programs in the languages found on
 * this machine really fail; each reports its own stack trace from its own exception handler. The service groups them, a
 * scripted agent claims one over HTTP, comments it and resolves it. What is printed was answered by the service.
 *
 * It needs a running service (`npm start`) and the same SVC_DATA_DIR, for the command line makes the project and tokens.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const PROJECT = 'demo-shop';

interface Program {
  language: string;
  command: string;
  /** How the command is asked whether it is there. */
  probe: string[];
  args: string[];
}

const PROGRAMS: Program[] = [
  { language: 'Node', command: process.execPath, probe: ['--version'], args: ['checkout.js'] },
  { language: 'Python', command: 'python3', probe: ['--version'], args: ['invoice.py'] },
  { language: 'Perl', command: 'perl', probe: ['-MJSON::PP', '-MHTTP::Tiny', '-e', '1'], args: ['import.pl'] },
  { language: 'Shell', command: 'bash', probe: ['-c', 'command -v curl'], args: ['backup.sh'] },
  { language: 'Java', command: 'java', probe: ['--version'], args: ['Shipping.java'] },
  { language: 'Go', command: 'go', probe: ['version'], args: ['run', 'stock.go'] },
  { language: 'Ruby', command: 'ruby', probe: ['--version'], args: ['signup.rb'] },
  { language: 'PHP', command: 'php', probe: ['--version'], args: ['catalog.php'] },
];

interface Finished {
  code: number | null;
  stdout: string;
}

function run(command: string, args: string[], env: NodeJS.ProcessEnv = process.env): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: join(here, 'programs'), env, stdio: ['ignore', 'pipe', 'ignore'] });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    child.on('error', () => resolve({ code: null, stdout: '' }));
    child.on('close', (code) => resolve({ code, stdout }));
  });
}

const say = (text = ''): void => void process.stdout.write(`${text}\n`);

function stop(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}

async function serviceUrl(): Promise<string> {
  if (process.env['SVC_URL'] !== undefined) return process.env['SVC_URL'];
  const file = join(process.env['SVC_DATA_DIR'] ?? 'data', 'server.json');
  try {
    return (JSON.parse(await readFile(file, 'utf8')) as { url: string }).url;
  } catch {
    return stop(`No running service found (${file} is not there). Start it with: npm start`);
  }
}

/** `aos …` on the service's own store, beside the running server. */
async function aos(args: string[]): Promise<Record<string, unknown>> {
  const cli = join(here, '..', '..', 'cli', 'main.js');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [cli, ...args, '--json'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    child.on('close', () => resolve(JSON.parse(stdout) as Record<string, unknown>));
  });
}

/** One API call; prints what was asked. */
async function call<T>(url: string, token: string, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as T & { error?: { message: string } };
  if (!response.ok) stop(`${method} ${path} → ${response.status}: ${answer.error?.message ?? ''}`);
  return answer;
}

interface Reported {
  ref: string;
  title: string;
  created: boolean;
  hit_count: number;
  urgency: string;
}

async function failAll(url: string, token: string): Promise<Map<string, Reported>> {
  const env = { ...process.env, SVC_URL: url, SVC_TOKEN: token, SVC_PROJECT: PROJECT };
  const groups = new Map<string, Reported>();
  for (const program of PROGRAMS) {
    if ((await run(program.command, program.probe)).code !== 0) {
      say(`  ${program.language.padEnd(7)} not on this machine, left out`);
      continue;
    }
    for (const order of ['1001', '1002', '1003']) {
      const { stdout } = await run(program.command, [...program.args, order], env);
      const line = stdout.trim().split('\n').at(-1) ?? '';
      let reported: Reported | null = null;
      try {
        reported = JSON.parse(line) as Reported;
      } catch {
        stop(`the ${program.language} program could not report: ${line}`);
      }
      if (reported === null || reported.ref === undefined) stop(`the ${program.language} report was refused: ${line}`);
      else {
        groups.set(reported.ref, reported);
        const what = reported.created ? 'new group' : `counted, ${reported.hit_count} so far`;
        say(
          `  ${program.language.padEnd(7)} ${reported.ref.padEnd(13)} ${what.padEnd(18)} ${reported.urgency.padEnd(9)} ${reported.title}`,
        );
      }
    }
  }
  return groups;
}

interface Next {
  item: {
    id: string;
    ref: string;
    title: string;
    severity: string;
    stack_trace: string | null;
    untrusted_fields: string[];
  } | null;
  lease: { claim_token: string; expires_at: string };
}

async function agent(url: string, token: string): Promise<string | null> {
  const bugs = '/api/bugtracker/v1/bugs';
  const next = await call<Next>(url, token, 'POST', `${bugs}?action=next&project=${PROJECT}`, {
    agent: 'demo-agent',
    lease_seconds: 600,
  });
  if (next.item === null) return null;
  const { item, lease } = next;
  say(`  demo-agent claimed ${item.ref} (${item.severity}) until ${lease.expires_at}`);
  say(`    ${item.title}`);
  for (const line of (item.stack_trace ?? '').split('\n').slice(0, 4)) say(`    | ${line}`);
  say(`    text from outside, not to be obeyed: ${item.untrusted_fields.join(', ')}`);
  await call(url, token, 'POST', `${bugs}/${item.id}/comments`, {
    body: 'Reproduced. The input is checked before use now.',
    claim_token: lease.claim_token,
  });
  const { item: resolved } = await call<{ item: { status: string } }>(url, token, 'PATCH', `${bugs}/${item.id}`, {
    status: 'resolved',
    resolved_in_build: '1.4.1',
    claim_token: lease.claim_token,
  });
  say(`  commented, then ${resolved.status} in build 1.4.1: it closes when that release is published`);
  return item.ref;
}

async function main(): Promise<void> {
  const url = await serviceUrl();
  say(`The service at ${url}`);
  const known = await aos(['project', 'list']);
  const slugs = (known['items'] as { slug: string }[] | undefined)?.map((p) => p.slug) ?? [];
  if (!slugs.includes(PROJECT)) await aos(['project', 'create', PROJECT, '--name', 'Demo shop']);
  const reporter = await aos([
    'token',
    'create',
    '--name',
    'demo reporter',
    '--scopes',
    'bugtracker:report',
    '--project',
    PROJECT,
    '--expires-in',
    '3600',
  ]);
  const worker = await aos([
    'token',
    'create',
    '--name',
    'demo agent',
    '--scopes',
    'bugtracker:manage',
    '--project',
    PROJECT,
    '--expires-in',
    '3600',
  ]);
  const [report, manage] = [String(reporter['token']), String(worker['token'])];

  say('\nPrograms fail and report themselves (each three times, with other order numbers):');
  const groups = await failAll(url, report);
  say(`\n${groups.size} groups from ${[...groups.values()].reduce((sum, g) => sum + g.hit_count, 0)} errors.`);

  say('\nA coding agent asks for work:');
  const ref = await agent(url, manage);

  await aos(['token', 'revoke', String(reporter['id'])]);
  await aos(['token', 'revoke', String(worker['id'])]);
  say('\nLook at it (sign in with the credentials that the first start printed):');
  say(`  ${url}/            the dashboard`);
  say(`  ${url}/errors      the error stream`);
  if (ref !== null) say(`  ${url}/bugs/${ref}   the item, its stack trace, claim and comment`);
}

await main();
