/** Grouping rules in a configuration document (contract 97, apply). */
import joi from 'joi';
import type { ConfigFields, ConfigKind, ConfigObject } from '../../../ports/domain/config/kinds.js';
import { listProjectReferences } from '../../../ports/domain/config/kinds.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { GroupingRuleFields, GroupingRuleService } from '../regrouping/grouping-rules.js';
import { ruleBody } from './grouping-rule-schemas.js';

const getProject = ({ project }: ConfigFields): string => String(project);

const omitProject = ({ project: _project, ...fields }: ConfigFields): GroupingRuleFields => fields;

export const createGroupingRuleKind = (
  rules: GroupingRuleService,
  projects: Pick<ProjectDirectory, 'list'>,
): ConfigKind => ({
  kind: 'grouping_rules',
  order: 80,
  schema: ruleBody.keys({ project: joi.string().max(64).required().description('Slug') }),
  nameFields: ['project', 'name'],
  getName: ({ project, name }) => `${String(project)}/${String(name)}`,
  listReferences: (fields) => listProjectReferences(fields, 'project'),
  list: async (principal) => {
    const own = principal.kind === 'token' ? principal.project : null;
    const found: ConfigObject[] = [];
    for (const { slug } of await projects.list()) {
      if (own !== null && slug !== own) continue;
      for (const rule of await rules.list(principal, slug)) {
        const { id, managed, ...fields } = rule;
        const name = `${slug}/${rule.name}`;
        found.push({ id, name, managed: managed === true, fields: { ...fields, project: slug } });
      }
    }
    return found;
  },
  normalize: async (principal, fields) => ({ ...fields, ...rules.check(principal, omitProject(fields)) }),
  create: async (principal, fields) => {
    await rules.create(principal, getProject(fields), { ...omitProject(fields), managed: true });
    return [];
  },
  update: async (principal, { id }, changed, whole) =>
    void (await rules.change(principal, getProject(whole), id, omitProject(changed))),
  delete: (principal, { id, fields }) => rules.remove(principal, getProject(fields), id),
});
