/** Ignore rules in a configuration document (contract 97, apply). */
import type { Principal } from '../../../kernel/contract/index.js';
import { listProjectReferences, type ConfigKind } from '../../../ports/domain/config/kinds.js';
import type { IgnoreRuleService } from './ignore-rules.js';
import { getRuleName, ruleCreationSchema, type IgnoreRuleFields, type RuleView } from './rule.js';

const PAGE_SIZE = 200;

type NewRule = IgnoreRuleFields & Pick<RuleView, 'match_type' | 'pattern'>;

async function listRules(registry: IgnoreRuleService, principal: Principal): Promise<RuleView[]> {
  const own = principal.kind === 'token' ? principal.project : null;
  const found: RuleView[] = [];
  let cursor: string | undefined;
  do {
    const page = await registry.getPage(principal, { limit: PAGE_SIZE, cursor });
    // A token of a project may not change rules of all projects.
    found.push(...page.items.filter(({ project }) => own === null || project === own));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return found;
}

export const createIgnoreRuleKind = (registry: IgnoreRuleService): ConfigKind => ({
  kind: 'ignore_rules',
  order: 70,
  schema: ruleCreationSchema,
  nameFields: ['name'],
  getName: ({ name, pattern }) => getRuleName(name as string | null | undefined, String(pattern)),
  listReferences: (fields) => listProjectReferences(fields, 'project'),
  list: async (principal) =>
    (await listRules(registry, principal)).map((rule) => ({
      id: rule.id,
      name: rule.name,
      managed: rule.managed === true,
      fields: { ...rule },
    })),
  normalize: async (_principal, fields) => {
    const given = fields as unknown as NewRule;
    const { environment } = given;
    return { ...fields, ...registry.check(given), ...(environment && { environment: environment.trim() }) };
  },
  create: async (principal, fields) => {
    await registry.create(principal, { ...(fields as unknown as NewRule), managed: true });
    return [];
  },
  update: async (principal, { id }, changed) => void (await registry.change(principal, id, changed)),
  delete: (principal, { id }) => registry.remove(principal, id),
});
