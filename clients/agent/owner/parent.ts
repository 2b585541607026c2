/**
 * Everything except controlling services runs in a child as that user, so that nothing in the tree
 * can make root write elsewhere (contract 90, where it writes). The owner controls the child, so it
 * gets no password, and this process validates its requests.
 */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { constants } from 'node:os';
import { readFile } from 'node:fs/promises';
import { isSea } from 'node:sea';
import { buildChildEnv } from '../system/environment.js';
import { EXIT_CODES, AgentFailure, toAgentFailure } from '../exit.js';
import { getForeignOwner, readInstalledProject } from '../options/config-trust.js';
import { isInteractive } from '../prompts.js';
import { readSecret } from '../secrets.js';
import { resolveServer } from '../net/account.js';
import type { Agent } from '../update/installation.js';
import {
  CHILD_MARKER,
  toRejection,
  type ChildInstructions,
  type OwnerRequestMessage,
  type OwnerReply,
} from './messages.js';
import { OwnerRequestHandler } from './request-handler.js';

export interface Owner {
  uid: number;
  gid: number;
  name: string | null;
  home: string | null;
}

export async function findOwner(dir: string): Promise<Owner | null> {
  const uid = await getForeignOwner(dir);
  if (uid === null) return null;
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const user = users
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[2] === String(uid));
  return { uid, gid: Number(user?.[3] ?? uid), name: user?.[0] ?? null, home: user?.[5] ?? null };
}

export async function runAsOwner(owner: Owner, agent: Agent): Promise<number> {
  const { action, project, licenseKey, username, package: offline } = agent.options;
  const installs = action === 'install' && offline === null;
  if (installs && project === null)
    throw new AgentFailure('usage', '--project is missing: root must pass it in a directory of another user');
  const canPrompt = installs && isInteractive(agent.options);
  const server = canPrompt ? await resolveServer(agent.options, agent.signal) : agent.options.server;
  const options = { ...agent.options, server };
  // Prompts before the child exists: afterwards the owner could read the input or imitate the
  // prompt.
  const account = await agent.network.promptAccount(
    action === 'monitor' || (installs && (licenseKey === null || username !== null)),
  );
  const product = project ?? (await readInstalledProject(options.dir));
  const order = await buildInstructions({ ...agent, options });
  const env = {
    ...buildChildEnv(agent.env, /^DOTNET_RO/),
    HOME: owner.home ?? '/',
    USER: owner.name ?? String(owner.uid),
    [CHILD_MARKER]: '1',
  };
  const args = isSea() ? [] : [...process.execArgv, agent.ownFile];
  const stdio: StdioOptions = ['inherit', 'inherit', 'inherit', 'ipc'];
  // A separate session, because otherwise the owner could inject input into root's terminal through
  // the child.
  const child = spawn(process.execPath, args, {
    uid: owner.uid,
    gid: owner.gid,
    env,
    cwd: '/',
    stdio,
    detached: true,
    serialization: 'advanced',
  });
  agent.signal.addEventListener('abort', () => child.kill('SIGTERM'));
  const served = new OwnerRequestHandler({ ...agent, options }, { product, account });
  child.on('message', (question: OwnerRequestMessage) => answerRequest(child, served, question));
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', (error) =>
      reject(new AgentFailure('spaceOrPermission', `the agent cannot run as user ${owner.uid}: ${error.message}`)),
    );
    child.once('exit', (code, name) =>
      resolve(code ?? 128 + (name === null ? EXIT_CODES.error : constants.signals[name])),
    );
  });
  if (child.connected) child.send(order, () => undefined);
  return ended;
}

async function buildInstructions({ options, env }: Agent): Promise<ChildInstructions> {
  const settings: Record<string, string> = {};
  for (const variable of Object.keys(env)) {
    const [, name] = /^(SVC_SET_.+?)(?:_FILE)?$/.exec(variable) ?? [];
    const value = name === undefined ? null : await readSecret(env, name);
    if (name !== undefined && value !== null) settings[name] = value;
  }
  const { password: _kept, server, ...rest } = options;
  // Only a setup stores the key; for packages this process sends it.
  const needsKey = options.action === 'install' || options.action === 'configure';
  return {
    options: {
      ...rest,
      passwordFile: null,
      licenseKey: needsKey ? options.licenseKey : null,
      server: server?.href ?? null,
    },
    settings,
  };
}

function answerRequest(child: ChildProcess, served: OwnerRequestHandler, question: OwnerRequestMessage | null): void {
  // A child that no longer runs trusted code.
  if (typeof question !== 'object' || question === null) return;
  const { id, wish: ownerRequest } = question;
  const send = (reply: OwnerReply): void => {
    if (child.connected) child.send(reply, () => undefined);
  };
  served.handle(ownerRequest).then(
    (value) => send({ id, value }),
    (error: unknown) => send({ id, refusal: toRejection(toAgentFailure(error)) }),
  );
}
