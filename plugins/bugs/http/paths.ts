/** Paths and scopes that the routes of this plugin share (contract 20, endpoints). */
import type { HttpRequest } from '../../../kernel/contract.js';

export const BASE = '/api/bugtracker/v1';
export const REPORT = 'bugtracker:report';
export const READ = 'bugtracker:read';
export const MANAGE = 'bugtracker:manage';

/** The id or ref in the path. */
export const getIdParam = (request: HttpRequest): string => request.params['id'] ?? '';
