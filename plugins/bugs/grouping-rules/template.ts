/** Such as `{{ class }} of {{ 1 }}`, as in client fingerprints. */

/** `{{ 1 }}` to `{{ 9 }}` are the groups of the message pattern. */
export const PLACEHOLDER_NAMES = ['class', 'message', 'origin'] as const;
export type PlaceholderName = (typeof PLACEHOLDER_NAMES)[number];
type Placeholder = PlaceholderName | number;

export interface TemplateValues {
  getNamed(name: PlaceholderName): string;
  /** @param index from 1 */
  getCaptured(index: number): string;
}

export interface Template {
  render(values: TemplateValues): string;
  groups: number;
}

const PLACEHOLDER = /\{\{([^{}]{0,40})\}\}/g;
const PLACEHOLDER_HELP = '{{ class }}, {{ message }}, {{ origin }} and {{ 1 }} to {{ 9 }}';

export class TemplateProblem extends Error {
  override name = 'TemplateProblem';
}

/** @throws TemplateProblem */
export function parseTemplate(text: string): Template {
  const pieces: (string | { placeholder: Placeholder })[] = [];
  let end = 0;
  for (const found of text.matchAll(PLACEHOLDER)) {
    pieces.push(text.slice(end, found.index), { placeholder: parsePlaceholder(found[1] as string) });
    end = found.index + found[0].length;
  }
  pieces.push(text.slice(end));
  const numbers = pieces.map((piece) =>
    typeof piece === 'object' && typeof piece.placeholder === 'number' ? piece.placeholder : 0,
  );
  return {
    render: (values) => pieces.map((piece) => renderPart(piece, values)).join(''),
    groups: Math.max(...numbers),
  };
}

function parsePlaceholder(given: string): Placeholder {
  const name = given.trim();
  if (/^[1-9]$/.test(name)) return Number(name);
  const known = PLACEHOLDER_NAMES.find((one) => one === name);
  if (known !== undefined) return known;
  if (name === 'default')
    throw new TemplateProblem(
      '{{ default }} must be a separate element of a fingerprint, without text before or after it',
    );
  throw new TemplateProblem(`{{ ${name} }} is not a placeholder; available: ${PLACEHOLDER_HELP}`);
}

function renderPart(piece: string | { placeholder: Placeholder }, values: TemplateValues): string {
  if (typeof piece === 'string') return piece;
  const { placeholder } = piece;
  return typeof placeholder === 'number' ? values.getCaptured(placeholder) : values.getNamed(placeholder);
}
