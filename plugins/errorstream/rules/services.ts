/** Builds the services of the ignore rules, each from what the ones before it offer. */
import type { JobSpec, PluginContext } from '../../../kernel/contract.js';
import { AUDIT } from '../../../ports/domain/access.js';
import { BUGS, MUTING } from '../../../ports/domain/bugs.js';
import { PROJECTS } from '../../../ports/domain/projects.js';
import { RuleBook } from './book.js';
import { BOOK, HITS, RULE_DEPS, RUNS, SETTLING, SURVEY, type RuleDeps } from './deps.js';
import { Hits } from './hits.js';
import { Registry } from './registry.js';
import { Runs } from './runs.js';
import { Settling } from './settling.js';
import { Survey } from './survey.js';

export interface RuleServices {
  book: RuleBook;
  registry: Registry;
  settling: Settling;
  runs: Runs;
}

export const ruleDeps = (ctx: PluginContext): RuleDeps => ({
  rules: ctx.collection('rules'),
  revisions: ctx.collection('revisions'),
  applies: ctx.collection('applies'),
  bugs: ctx.resolve(BUGS),
  muting: ctx.resolve(MUTING),
  projects: ctx.resolve(PROJECTS),
  audit: () => ctx.find(AUDIT),
  clock: ctx.clock,
  ids: ctx.ids,
  log: ctx.log,
});

/** @param scope the plugin's own container */
export function buildRules(scope: Pick<PluginContext, 'bind' | 'construct'>, deps: RuleDeps): RuleServices {
  const make = <T>(name: string, type: new (...args: never[]) => T): T => {
    const service = scope.construct(type);
    scope.bind(name, service);
    return service;
  };
  scope.bind(RULE_DEPS, deps);
  make(HITS, Hits);
  const book = make(BOOK, RuleBook);
  make(SURVEY, Survey);
  const settling = make(SETTLING, Settling);
  const runs = make(RUNS, Runs);
  return { book, settling, runs, registry: scope.construct(Registry) };
}

/** Every ten seconds: what changes and expiries leave to unmute, and applies that a crash cut off. */
export const ruleJobs = ({ settling, runs }: RuleServices): JobSpec[] => [
  {
    name: 'rules',
    everyMs: 10_000,
    timeoutMs: 600_000,
    run: async ({ signal }) => {
      await settling.run(signal);
      await runs.resume();
    },
  },
];
