import { bindAll, type Instances, type JobSpec, type PluginContext } from '../../../kernel/contract/index.js';
import { AUDIT } from '../../../ports/domain/audit.js';
import { BUGS, GROUP_MUTER } from '../../../ports/domain/bugs.js';
import { PROJECTS } from '../../../ports/domain/projects.js';
import { IgnoreRuleFilter } from './ignore-rule-filter.js';
import { RULE_DEPS, type RuleDeps } from './deps.js';
import { IgnoreRuleService } from './ignore-rules.js';
import { ApplyRunService } from './apply-runs.js';
import { RuleReconciler } from './rule-reconciler.js';

const SERVICE_CLASSES = {
  book: IgnoreRuleFilter,
  registry: IgnoreRuleService,
  reconciler: RuleReconciler,
  runs: ApplyRunService,
};

export type RuleServices = Instances<typeof SERVICE_CLASSES>;

export const createRuleDeps = (ctx: PluginContext): RuleDeps => ({
  rules: ctx.collection('rules'),
  revisions: ctx.collection('revisions'),
  applies: ctx.collection('applies'),
  bugs: ctx.resolve(BUGS),
  muting: ctx.resolve(GROUP_MUTER),
  projects: ctx.resolve(PROJECTS),
  audit: () => ctx.find(AUDIT),
  clock: ctx.clock,
  ids: ctx.ids,
  log: ctx.log,
});

export function buildRuleServices(scope: Pick<PluginContext, 'bind' | 'services'>, deps: RuleDeps): RuleServices {
  bindAll(scope, RULE_DEPS, deps);
  return scope.services(SERVICE_CLASSES);
}

/** Every ten seconds: unmutes after changes and expiries, and continues interrupted runs. */
export const buildRuleJobs = ({ reconciler, runs }: RuleServices): JobSpec[] => [
  {
    name: 'rules',
    everyMs: 10_000,
    timeoutMs: 600_000,
    run: async ({ signal }) => {
      await reconciler.run(signal);
      await runs.resume();
    },
  },
];
