/** Status pages in a configuration document (contract 97, apply). */
import {
  listProjectReferences,
  type ConfigFields,
  type ConfigKind,
  type ConfigReference,
} from '../../../ports/domain/config/kinds.js';
import { pageBody, toComponent, type ComponentFields, type PageFields } from '../model/status-page.js';
import type { StatusPageService } from './status-page-service.js';

const toPageFields = (fields: ConfigFields): PageFields & { slug: string; title: string } =>
  fields as unknown as PageFields & { slug: string; title: string };

const listMonitorReferences = ({ components = [] }: PageFields): ConfigReference[] =>
  components.flatMap(({ sources = [], subtree = null }, at) => [
    ...sources.map((name) => ({ field: `components.${at}.sources`, kind: 'monitors', name })),
    ...(subtree === null ? [] : [{ field: `components.${at}.subtree`, kind: 'monitors', name: subtree }]),
  ]);

export const createStatusPageKind = (pages: StatusPageService): ConfigKind => ({
  kind: 'status_pages',
  order: 40,
  schema: pageBody,
  nameFields: ['slug'],
  getName: ({ slug }) => String(slug),
  listSecrets: () => ['password'],
  listReferences: (fields) => [
    ...listProjectReferences(fields, 'project'),
    ...listMonitorReferences(toPageFields(fields)),
  ],
  list: async (principal) =>
    (await pages.listStored(principal)).map(({ id, managed, ...page }) => ({
      id,
      name: page.slug,
      managed: managed === true,
      fields: { ...page, password: page.password?.hash ?? null },
    })),
  normalize: async (principal, fields, before) => {
    const given = toPageFields(fields);
    await pages.check(given, before?.id ?? null, principal);
    const components = given.components?.map((one: ComponentFields) => toComponent(one));
    const hash = before?.fields['password'] as string | null | undefined;
    const isSame = await pages.isPassword(given.password, hash);
    return { ...fields, ...(components && { components }), ...(isSame && { password: hash }) };
  },
  create: async (principal, fields) => {
    await pages.create({ ...toPageFields(fields), managed: true }, principal);
    return [];
  },
  update: async (principal, { id }, changed) => void (await pages.change(id, changed, principal)),
  delete: async (principal, { id }) => void (await pages.remove(id, principal)),
});
