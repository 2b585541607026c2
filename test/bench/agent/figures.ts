/**
 * The agents' part of `npm run bench`: two scripted agents work off eleven planted bugs over real
 * MCP, and what a model would have written and read is counted in both forms of the answers. It
 * fails where an item is not fixed or an order in a report was followed: fewer tokens count only at
 * the same success.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestService } from '../../support/service.js';
import { buildSentryEnvelope } from '../../support/sentry-envelope.js';
import { McpSession, PER_TOKEN, type Tokens } from './mcp-session.js';
import { PLANTED } from './planted.js';
import { eventOf } from './reports.js';
import { workOne, type Worked } from './scripted-agent.js';

const OCCURRENCES = 8;
const AGENTS = 2;

export interface AgentFigures {
  start_tokens: number;
  worked: Worked[];
  tools: Record<string, number>;
  /** Statuses of all items behind the last call. */
  statuses: string[];
}

/** One run over a service of its own, which ends with it. */
export async function agentRun(starting = TestService.createStarted()): Promise<AgentFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-planted-'));
  const service = await starting;
  try {
    await mkdir(join(folder, 'src'));
    for (const { name, source } of PLANTED) await writeFile(join(folder, 'src', `${name}.mjs`), source);
    await service.createProject('shop');
    await reportAll(service, folder);
    const scopes = 'bugtracker:report,bugtracker:read,bugtracker:manage';
    const sessions: McpSession[] = [];
    for (let n = 0; n < AGENTS; n++)
      sessions.push(new McpSession(service.url, await service.createToken(scopes, 'shop')));
    const starts = await Promise.all(sessions.map((session) => session.open()));
    const worked: Worked[] = [];
    const workAll = async (session: McpSession, at: number): Promise<void> => {
      for (let n = 1; n <= 3 * PLANTED.length; n++) {
        const one = await workOne(session, folder, `bench-${at + 1}`, n * AGENTS + at);
        if (one === null) return;
        worked.push(one);
      }
    };
    await Promise.all(sessions.map(workAll));
    const token = await service.createToken(scopes, 'shop');
    const { body } = await service.request('GET', '/api/bugtracker/v1/bugs?project=shop&limit=100', token);
    const statuses = (body['items'] as { status: string }[]).map(({ status }) => status);
    const tools: Record<string, number> = {};
    for (const session of sessions) for (const [name, calls] of session.tools) tools[name] = (tools[name] ?? 0) + calls;
    return { start_tokens: Math.max(...starts), worked, tools, statuses };
  } finally {
    await service.dispose();
    await rm(folder, { recursive: true, force: true });
  }
}

async function reportAll(service: TestService, folder: string): Promise<void> {
  const { key, number } = await keyOf(service);
  for (let n = 0; n < OCCURRENCES; n++)
    for (const bug of PLANTED) {
      const event = await eventOf(bug, folder, randomBytes(16).toString('hex'), n);
      const response = await fetch(`${service.url}/api/${number}/envelope/?sentry_key=${key}`, {
        method: 'POST',
        body: buildSentryEnvelope(event),
      });
      if (response.status !== 200) throw new Error(`${bug.name}: ${response.status} ${await response.text()}`);
    }
}

async function keyOf(service: TestService): Promise<{ key: string; number: string }> {
  const { dsn, key } = await service.runCommand<{ dsn: string; key: string }>(['project', 'intake-key', 'shop']);
  return { key, number: new URL(dsn).pathname.slice(1) };
}

/** @throws Error when an item is not fixed, or was changed by an order */
export async function measureAgent(print: (text: string) => void): Promise<void> {
  print(
    `\n${AGENTS} scripted agents over MCP: ${PLANTED.length} planted bugs, each reported ${OCCURRENCES} times; a token is ${PER_TOKEN} characters`,
  );
  const { start_tokens, worked, tools, statuses } = await agentRun();
  for (const { ref, bug, fixed, agent, calls, tokens, asked: requested } of worked)
    print(
      `  ${ref.padEnd(8)} ${bug.padEnd(8)} ${fixed ? 'fixed' : 'NOT FIXED'} by ${agent}  ${calls} calls  ${tokens.text} tokens as text, ${tokens.structured} structured  ${requested.join()}`,
    );
  const mean = (form: keyof Tokens): number =>
    Math.round(worked.reduce((all, { tokens }) => all + tokens[form], 0) / PLANTED.length);
  const fixed = worked.filter((one) => one.fixed).length;
  const calls = Object.values(tools).reduce((a, b) => a + b, 0);
  print(
    `  ${fixed} of ${PLANTED.length} fixed; ${calls} calls (${JSON.stringify(tools)}); a bug takes ${mean('text')} tokens as text, ${mean('structured')} structured; ${start_tokens} once for instructions and tools`,
  );
  if (fixed !== PLANTED.length || statuses.some((status) => status !== 'resolved'))
    throw new Error(`not all bugs were fixed, or an order was followed: ${statuses.join(', ')}`);
}
