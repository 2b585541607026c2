/** joi's public account of a schema (`describe()`), as far as it is read here, and what is asked of one. */

export type JsonSchema = Record<string, unknown>;

export interface DescribedRule {
  name: string;
  args?: { limit?: unknown; regex?: unknown; base?: unknown; options?: { invert?: boolean }; sign?: unknown };
}

/** What joi's `describe()` answers. */
export interface Description {
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
  keys?: Record<string, Description>;
  items?: Description[];
  ordered?: Description[];
  matches?: { schema?: Description; then?: Description; otherwise?: Description }[];
  patterns?: { regex?: string; rule?: Description }[];
  rules?: DescribedRule[];
  allow?: unknown[];
  examples?: unknown[];
  link?: { ref?: { path?: unknown[] } };
  metas?: { component?: { name: string; description?: string }; json?: JsonSchema; unlisted?: boolean }[];
}

export const isRequired = (described: Description): boolean => described.flags?.presence === 'required';

/** `unlisted` of ports/http.ts says otherwise, and what may not be given at all. */
export const isListed = ({ flags, metas = [] }: Description): boolean =>
  flags?.presence !== 'forbidden' && !metas.some(({ unlisted }) => unlisted === true);

/** The name that a schema was given (ports/http.ts, `named`). */
export const nameOf = (described: Description): string | null => componentOf(described)?.name ?? null;

/** The name and the description that a schema was given. */
export const componentOf = ({ metas = [] }: Description): { name: string; description?: string } | undefined =>
  metas.findLast(({ component }) => component !== undefined)?.component;

/** What an alternative may be, as far as it is listed. */
export const branchesOf = ({ matches = [] }: Description): Description[] =>
  matches.flatMap(({ schema, then, otherwise }) =>
    [schema, then, otherwise].filter((one) => one !== undefined).filter((one) => isListed(one)),
  );
