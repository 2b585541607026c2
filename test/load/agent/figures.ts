/**
 * The agents' part of `npm run bench`: a scripted agent works off ten planted bugs over real MCP, and what a model would
 * have written and read is counted. It fails where an item is not fixed or an order in a report was followed: fewer
 * tokens count only at the same success.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestService } from '../../support/service.js';
import { sentryEnvelope } from '../../support/sentry-envelope.js';
import { McpSession, PER_TOKEN } from './mcp-session.js';
import { PLANTED } from './planted.js';
import { eventOf } from './reports.js';
import { workOne, type Worked } from './scripted-agent.js';

const OCCURRENCES = 8;

export interface AgentFigures {
  start_tokens: number;
  worked: Worked[];
  tools: Record<string, number>;
  /** Statuses of all items behind the last call. */
  statuses: string[];
}

/** One run over a service of its own, which ends with it. */
export async function agentRun(starting = TestService.started()): Promise<AgentFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-planted-'));
  const service = await starting;
  try {
    await mkdir(join(folder, 'src'));
    for (const { name, source } of PLANTED) await writeFile(join(folder, 'src', `${name}.mjs`), source);
    await service.project('shop');
    await reportAll(service, folder);
    const token = await service.token('bugtracker:report,bugtracker:read,bugtracker:manage', 'shop');
    const session = new McpSession(service.url, token);
    const start_tokens = await session.open();
    const worked: Worked[] = [];
    for (let n = 1; n <= 3 * PLANTED.length; n++) {
      const one = await workOne(session, folder, n);
      if (one === null) break;
      worked.push(one);
    }
    const { body } = await service.request('GET', '/api/bugtracker/v1/bugs?project=shop&limit=100', token);
    const statuses = (body['items'] as { status: string }[]).map(({ status }) => status);
    return { start_tokens, worked, tools: Object.fromEntries(session.tools), statuses };
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
        body: sentryEnvelope(event),
      });
      if (response.status !== 200) throw new Error(`${bug.name}: ${response.status} ${await response.text()}`);
    }
}

async function keyOf(service: TestService): Promise<{ key: string; number: string }> {
  const { dsn, key } = await service.command<{ dsn: string; key: string }>(['project', 'intake-key', 'shop']);
  return { key, number: new URL(dsn).pathname.slice(1) };
}

/** @throws Error when an item is not fixed, or was changed by an order */
export async function measureAgent(print: (text: string) => void): Promise<void> {
  print(
    `\nA scripted agent over MCP: ${PLANTED.length} planted bugs, each reported ${OCCURRENCES} times; a token is ${PER_TOKEN} characters`,
  );
  const { start_tokens, worked, tools, statuses } = await agentRun();
  for (const { ref, bug, fixed, calls, tokens, asked } of worked)
    print(
      `  ${ref.padEnd(8)} ${bug.padEnd(8)} ${fixed ? 'fixed' : 'NOT FIXED'}  ${calls} calls  ${tokens} tokens  ${asked.join()}`,
    );
  const sum = (of: (one: Worked) => number): number => worked.reduce((all, one) => all + of(one), 0);
  const fixed = worked.filter((one) => one.fixed).length;
  const calls = Object.values(tools).reduce((a, b) => a + b, 0);
  print(
    `  ${fixed} of ${PLANTED.length} fixed; ${calls} calls (${JSON.stringify(tools)}); ${Math.round(sum(({ tokens }) => tokens) / PLANTED.length)} tokens a bug, ${start_tokens} once for instructions and tools`,
  );
  if (fixed !== PLANTED.length || statuses.some((status) => status !== 'resolved'))
    throw new Error(`not all bugs were fixed, or an order was followed: ${statuses.join(', ')}`);
}
