/** Rules that request agents, in a configuration document (contract 97, apply). */
import { listProjectReferences, type ConfigFields, type ConfigKind } from '../../ports/domain/config/kinds.js';
import { getCallerName } from './caller.js';
import { ruleCreationSchema, type RequestRuleFields } from './request-rule.js';
import type { RequestRuleService } from './request-rules.js';

function getRuleName(fields: ConfigFields): string {
  const { agent = '', project, tag } = fields as RequestRuleFields;
  return [agent, project ? `of ${project}` : '', tag ? `tagged ${tag}` : ''].filter(Boolean).join(' ');
}

export const createAgentRuleKind = (rules: RequestRuleService): ConfigKind => ({
  kind: 'agent_rules',
  order: 90,
  schema: ruleCreationSchema,
  nameFields: ['agent'],
  getName: getRuleName,
  listReferences: (fields) => listProjectReferences(fields, 'project'),
  list: async (principal) =>
    (await rules.list(principal)).map(({ id, managed, ...fields }) => ({
      id,
      name: getRuleName(fields),
      managed: managed === true,
      fields,
    })),
  create: async (principal, fields) => {
    const given = { ...(fields as unknown as RequestRuleFields & { agent: string }), managed: true } as const;
    await rules.create(principal, getCallerName(principal), given);
    return [];
  },
  update: async (principal, { id }, changed) => void (await rules.change(principal, id, changed)),
  delete: (principal, { id }) => rules.remove(principal, id),
});
