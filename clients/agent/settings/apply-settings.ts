/**
 * Sets up an installation from its `setup.json` (contract 90, setup.json). All values are resolved
 * before any file is written; each file is written atomically.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { printable, printableLines } from '../../../lib/text/printable.js';
import { codeOf, AgentFailure } from '../exit.js';
import { askChoice, askHidden, askText, askYesNo, isInteractive } from '../prompts.js';
import { secretOf } from '../secrets.js';
import type { Agent, Installation } from '../update/installation.js';
import { readDescription, variableOf, type Description, type Provision, type Setting } from './description.js';
import { leaveToWrite } from './leave.js';
import { resolve, type Resolved } from './resolve.js';
import { Targets } from './targets.js';

const SETUP_FILE = 'setup.json';
const SETUP_BYTES = 1024 * 1024;
const TOKEN_BYTES = 64 * 1024;

export async function applySettings(installation: Installation, project: string): Promise<string | null> {
  const { agent, layout } = installation;
  const description = await descriptionOf(installation);
  if (description === null) {
    if (agent.options.set.length > 0) throw new AgentFailure('usage', '--set: this release has no settings');
    return null;
  }
  const around = { env: agent.env, root: layout.root, project };
  const targets = new Targets(around);
  const resolved = await resolve(description, {
    around,
    given: await givenValues(agent, description),
    read: (target) => targets.read(target),
    provision: (what) => provide(agent, project, what),
    ask: isInteractive(agent.options) ? (setting, refused) => question(agent, setting, refused) : undefined,
    leave: async (missing) => leaveToWrite(installation, await targets.paths(missing)),
    warn: (text) => agent.output.warning(text),
  });
  for (const { setting, value, missing } of resolved)
    for (const target of missing)
      await targets.set(target, value, setting.type === 'secret' || setting.provision === 'token');
  const files = await targets.save();
  agent.output.note(
    'configured',
    { settings: resolved.map(reported), files },
    `${files.length} files of settings written`,
  );
  return description.post;
}

/** Never the value, which may be a secret. */
const reported = ({ setting, source }: Resolved): { name: string; source: string } => ({ name: setting.name, source });

export function showPost(agent: Agent, post: string | null): void {
  if (post === null) return;
  const text = printableLines(post);
  if (agent.output.json) agent.output.note('post', { text }, '');
  else agent.output.plain(`${text}\n`);
}

/**
 * Reads the description from the signed manifest, or from the file when an older server wrote the
 * manifest.
 */
async function descriptionOf({ manifest, layout }: Installation): Promise<Description | null> {
  const setup = manifest?.setup ?? (await readSetup(join(layout.root, SETUP_FILE)));
  return setup === null ? null : readDescription(setup);
}

async function readSetup(path: string): Promise<Readonly<Record<string, unknown>> | null> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    if (size > SETUP_BYTES) throw new AgentFailure('error', `${path} is longer than ${SETUP_BYTES} bytes`);
    const value: unknown = JSON.parse(await file.readFile('utf8'));
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new AgentFailure('error', `${path} is no JSON object`);
    return { ...value };
  } catch (error) {
    if (error instanceof SyntaxError) throw new AgentFailure('error', `${path} is no JSON`, { cause: error });
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * `--set name=value` takes precedence over `SVC_SET_<NAME>`. Secrets are never read from the
 * command line.
 */
async function givenValues({ options, env }: Agent, { settings }: Description): Promise<Map<string, string>> {
  const given = new Map<string, string>();
  for (const setting of settings) {
    const value = await secretOf(env, variableOf(setting.name));
    if (value !== null) given.set(setting.name, value);
  }
  for (const { name, value } of options.set) {
    const setting = settings.find((one) => one.name === name);
    if (setting === undefined)
      throw new AgentFailure('usage', `--set ${printable(name, 64)}: the release has no such setting`);
    if (setting.type === 'secret')
      throw new AgentFailure(
        'usage',
        `--set ${name}: a secret on the command line can be read by others: use ${variableOf(name)}`,
      );
    given.set(name, value);
  }
  return given;
}

async function provide(
  { options, output, network }: Agent,
  project: string,
  what: Provision,
): Promise<string | (() => Promise<string>) | null> {
  if (what === 'project') return project;
  if (what === 'license_key') return options.licenseKey;
  if (what === 'base_url') return options.server === null ? null : options.server.href.replace(/\/+$/, '');
  if (what === 'watchdog_source') return sourceOf(project);
  const session = options.server === null ? null : await network.login(options.server);
  if (session === null) return null;
  return async () => {
    const answer = await session.post('token', { project, machine_name: hostname().slice(0, 200) }, TOKEN_BYTES);
    const { token, denied } = answer;
    if (typeof token !== 'string' || !/^[!-~]{1,500}$/.test(token))
      throw new AgentFailure('unverified', 'the server’s answer: token is no token');
    if (Array.isArray(denied) && denied.length > 0)
      output.warning(`the application’s token was given without ${denied.map(String).join(', ')}`);
    return token;
  };
}

const sourceOf = (project: string): string => `${project}-${hostname().replace(/[^A-Za-z0-9._-]/g, '-')}`.slice(0, 128);

async function question(
  agent: Agent,
  setting: Setting,
  refused: (text: string) => string | null,
): Promise<string | null> {
  const { label, help, required, choices, type } = setting;
  const standard = setting.default === null ? '' : String(setting.default);
  const { signal } = agent;
  if (help !== null) agent.output.say(printableLines(help));
  for (;;) {
    const answer = await answerOf();
    if (answer === '' && !required) return null;
    const why = answer === '' ? 'must be given' : refused(answer);
    if (why === null) return answer;
    agent.output.say(`${label} ${why}`);
  }

  async function answerOf(): Promise<string> {
    const option = `--set ${setting.name}`;
    if (choices !== null) return askChoice(label, choices.map(String), standard, option, signal);
    if (type === 'secret') return (await askHidden(`${label}: `, signal)) || standard;
    if (type === 'boolean') return String(await askYesNo(label, setting.default === true, option, signal));
    return askText(label, standard, option, signal);
  }
}
