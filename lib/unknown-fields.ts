/** Lists unknown names in a body for `warnings` (contract 00, envelope), by joi's `describe()`. */
export interface DescribedFields {
  type?: string;
  flags?: { unknown?: boolean };
  keys?: Readonly<Record<string, DescribedFields>>;
  patterns?: unknown;
  items?: readonly DescribedFields[];
  matches?: readonly { schema?: DescribedFields; then?: DescribedFields; otherwise?: DescribedFields }[];
  metas?: readonly { fields?: DescribedFields; validated_elsewhere?: boolean }[];
}

const MAX_LISTED_FIELDS = 10;
const MAX_NAME_LENGTH = 100;
const MORE_FIELDS_MESSAGE = 'more fields are not fields of this request';

/** Returns a displayable name; control characters could forge log lines or messages. */
export const cleanName = (name: string): string =>
  name.slice(0, MAX_NAME_LENGTH).replaceAll(/[\p{C}\p{Z}]/gu, '\ufffd');

const formatFieldWarning = (path: string, name: string): string => `${path}${cleanName(name)} is no field of this call`;

class UnknownFieldWalker {
  readonly warnings: string[] = [];

  constructor(private readonly dropped: (value: object) => readonly string[]) {}

  visit(described: DescribedFields, value: unknown, path: string): void {
    if (typeof value !== 'object' || value === null || this.warnings.length > MAX_LISTED_FIELDS) return;
    const one = this.#selectBranch(described, Array.isArray(value));
    if (one === null) return;
    if (Array.isArray(value)) this.#visitList(one, value, path);
    else this.#visitObject(one, value as Record<string, unknown>, path);
  }

  /** Null when any field is allowed. */
  #selectBranch(described: DescribedFields, isList: boolean): DescribedFields | null {
    const fits = ({ type }: DescribedFields): boolean => type === (isList ? 'array' : 'object');
    if (described.type !== 'alternatives') return fits(described) ? described : null;
    const branches = (described.matches ?? []).flatMap(({ schema, then, otherwise }) =>
      [schema, then, otherwise].filter((branch) => branch !== undefined).filter(fits),
    );
    return branches.length === 1 ? branches[0]! : null;
  }

  #visitList({ items = [] }: DescribedFields, list: readonly unknown[], path: string): void {
    const [item] = items;
    if (items.length !== 1 || item === undefined) return;
    const fields = item.metas?.find((meta) => meta.fields !== undefined)?.fields ?? item;
    list.forEach((value, at) => this.visit(fields, value, `${path}${at}.`));
  }

  #visitObject({ keys, flags, patterns, metas }: DescribedFields, value: Record<string, unknown>, path: string): void {
    if (metas?.some(({ validated_elsewhere }) => validated_elsewhere)) {
      this.warnings.push(...this.dropped(value).map((name) => formatFieldWarning(path, name)));
      return;
    }
    if (keys === undefined) return;
    const open = flags?.unknown === true || patterns !== undefined;
    for (const name of [...Object.keys(value), ...(open ? [] : this.dropped(value))]) {
      if (this.warnings.length > MAX_LISTED_FIELDS) return;
      const known = Object.hasOwn(keys, name) ? keys[name] : undefined;
      if (known === undefined) {
        if (!open) this.warnings.push(formatFieldWarning(path, name));
      } else this.visit(known, value[name], `${path}${name}.`);
    }
  }
}

/** @param dropped names that the body parser removed from this object */
export function listUnknownFields(
  described: DescribedFields,
  body: unknown,
  dropped: (value: object) => readonly string[] = () => [],
): string[] {
  const walk = new UnknownFieldWalker(dropped);
  walk.visit(described, body, '');
  const { warnings } = walk;
  return warnings.length > MAX_LISTED_FIELDS
    ? [...warnings.slice(0, MAX_LISTED_FIELDS - 1), MORE_FIELDS_MESSAGE]
    : warnings;
}
