import type { PageSpec, PanelSpec } from '../../kernel/contract.js';
export function pages(_s: object): PageSpec[] { return []; }
export function panels(_r: object): PanelSpec[] { return []; }
