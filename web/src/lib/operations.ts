/** The operations of the HTTP API that the pages use: what each takes and answers. */

import type * as Wire from '../generated'

export interface Api {
  'GET /api/me': { answer: Wire.Me }
  'PATCH /api/me': { body: Wire.ChangeMe; answer: Wire.Me }
  'DELETE /api/me': { body: { password?: string }; answer: unknown }
  'POST /api/me/password': { body: Wire.ChangePassword; answer: unknown }
  'POST /api/accounts': { body: Wire.SignUp; answer: Wire.Me }
  'POST /api/sessions': { body: Wire.SignIn; answer: Wire.Me }
  'GET /api/sessions': { answer: Wire.SessionView[] }
  'DELETE /api/sessions': { answer: unknown }
  'DELETE /api/sessions/current': { answer: unknown }
  'DELETE /api/sessions/{session_id}': { path: { session_id: string }; answer: unknown }
  'GET /api/keys': { answer: Wire.KeyView[] }
  'POST /api/keys': { body: Wire.MakeKey; answer: Wire.KeyMade }
  'DELETE /api/keys/{key_id}': { path: { key_id: string }; answer: unknown }

  'POST /api/live/rooms': { body: Wire.LiveNewRoom; answer: Wire.LiveRoomView }
  'GET /api/live/rooms': { query: { after?: string }; answer: Wire.LiveRoomList }
  'GET /api/live/rooms/{room_id}': { path: { room_id: string }; answer: Wire.LiveRoomView }
  'GET /api/live/rooms/{room_id}/comments': { path: { room_id: string }; query: { after?: string }; answer: Wire.LiveCommentList }
  'POST /api/live/rooms/{room_id}/close': { path: { room_id: string }; answer: Wire.LiveRoomView }

  'GET /api/admin/overview': { answer: Wire.Overview }
  'GET /api/admin/history': { query: { minutes?: number }; answer: Wire.HistoryAnswer }
  'GET /api/admin/tables': { answer: Wire.Tables }
  'GET /api/admin/tables/{name}': { path: { name: string }; answer: Wire.TableDetail }
  'GET /api/admin/tables/{name}/items': { path: { name: string }; query: { index?: string; pk?: string; op?: string; sk?: string; sk2?: string; newest?: boolean; limit?: number; after?: string }; answer: Wire.ItemPage }
  'GET /api/admin/backups': { answer: Wire.Backups }
  'POST /api/admin/backups': { answer: Wire.BackupBegun }
  'POST /api/admin/backups/{name}/restore': { path: { name: string }; body: Wire.Confirmed; answer: unknown }
  'DELETE /api/admin/backups/{name}': { path: { name: string }; answer: unknown }
  'GET /api/admin/jobs': { query: { state?: string; limit?: number; after?: string }; answer: Wire.JobPage }
  'POST /api/admin/jobs/retry': { body: Wire.JobName; answer: unknown }
  'POST /api/admin/jobs/cancel': { body: Wire.JobName; answer: unknown }
  'GET /api/admin/accounts': { query: { name?: string }; answer: Wire.AccountView }
  'GET /api/admin/accounts/{account_id}/sessions': { path: { account_id: string }; answer: Wire.AccountSessions }
  'POST /api/admin/accounts/{account_id}/sign-out': { path: { account_id: string }; answer: unknown }
  'DELETE /api/admin/accounts/{account_id}/sessions/{session}': { path: { account_id: string; session: string }; answer: unknown }
  'GET /api/admin/online': { answer: Wire.Online }
}
