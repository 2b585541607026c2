import type { Warned } from '../../../ports/store/left-out.js';

export interface PageRequest {
  limit?: number;
  cursor?: string | null;
  include_total?: boolean;
}

export interface PageAnswer extends Warned {
  items: object[];
  next_cursor: string | null;
  has_more: boolean;
  total?: number;
}
