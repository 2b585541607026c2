export type JsonSchema = Record<string, unknown>;

export interface DescribedRule {
  name: string;
  args?: { limit?: unknown; regex?: unknown; base?: unknown; options?: { invert?: boolean }; sign?: unknown };
}

export interface SchemaDescription {
  type?: string;
  flags?: {
    presence?: string;
    result?: string;
    only?: boolean;
    default?: unknown;
    description?: string;
    unknown?: boolean;
    match?: string;
  };
  keys?: Record<string, SchemaDescription>;
  items?: SchemaDescription[];
  ordered?: SchemaDescription[];
  matches?: { schema?: SchemaDescription; then?: SchemaDescription; otherwise?: SchemaDescription }[];
  patterns?: { regex?: string; rule?: SchemaDescription }[];
  rules?: DescribedRule[];
  allow?: unknown[];
  examples?: unknown[];
  link?: { ref?: { path?: unknown[] } };
  metas?: { component?: { name: string; description?: string }; json?: JsonSchema; unlisted?: boolean }[];
}

export const isRequired = (described: SchemaDescription): boolean => described.flags?.presence === 'required';

/** Whether a schema is documented: not if it is `unlisted` (ports/http/index.ts) or forbidden. */
export const isListed = ({ flags, metas = [] }: SchemaDescription): boolean =>
  flags?.presence !== 'forbidden' && !metas.some(({ unlisted }) => unlisted === true);

export const getComponentName = (described: SchemaDescription): string | null => getComponent(described)?.name ?? null;

export const getComponent = ({ metas = [] }: SchemaDescription): { name: string; description?: string } | undefined =>
  metas.findLast(({ component }) => component !== undefined)?.component;

export const listBranches = ({ matches = [] }: SchemaDescription): SchemaDescription[] =>
  matches.flatMap(({ schema, then, otherwise }) =>
    [schema, then, otherwise].filter((one) => one !== undefined).filter((one) => isListed(one)),
  );
