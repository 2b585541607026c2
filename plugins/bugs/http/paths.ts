/** Paths and scopes shared by the routes of this plugin (contract 20, endpoints). */
import type { HttpRequest } from '../../../kernel/contract.js';

export const BASE = '/api/bugtracker/v1';
export const REPORT = 'bugtracker:report';
export const READ = 'bugtracker:read';
export const MANAGE = 'bugtracker:manage';

export const getIdParam = (request: HttpRequest): string => request.params['id'] ?? '';
