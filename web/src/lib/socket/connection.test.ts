import { describe, expect, test, vi } from 'vitest'
import { ScriptedSocket } from './fakeSocket'
import { happens, hear, inRoom, joined, page, setStage } from './fixtures'

setStage()

describe('joining', () => {
  test('the first topic opens the socket, and joins when the server says welcome', () => {
    const { heard } = hear()
    expect(ScriptedSocket.last.sent).toEqual([])
    const socket = ScriptedSocket.last.welcome()
    expect(socket.sent).toEqual([{ t: 'join', id: 1, to: 'live/A' }])
    joined(socket, { at: { epoch: 3, seq: 10 }, snapshot: { name: 'room' }, here: 4 })
    expect(heard).toMatchObject({ snapshots: [{ name: 'room' }], here: [4], ready: [true] })
    expect(page.phases).toEqual(['connecting', 'open'])
  })

  test('all topics of a page share one socket', () => {
    hear('live/A')
    hear('home')
    const socket = ScriptedSocket.last.welcome()
    hear('live/B')
    expect(ScriptedSocket.opened).toHaveLength(1)
    expect(socket.sent.map((message) => 'to' in message && message.to)).toEqual(['live/A', 'home', 'live/B'])
  })

  test('a refusal ends the topic and says why', () => {
    const { heard } = hear()
    const socket = ScriptedSocket.last.welcome()
    socket.says({ t: 'refused', id: 1, error: { code: 'not_found', message: 'No such room', details: {} } })
    expect(heard.gone).toEqual(['not_found'])
    vi.advanceTimersByTime(60_000)
    expect(socket.count('join')).toBe(1)
  })

  test('a room that cannot be served for now is joined again after a pause that grows', () => {
    const { heard } = hear()
    const socket = ScriptedSocket.last.welcome()
    const away = { code: 'unavailable', message: 'Not now', details: {} }
    socket.says({ t: 'refused', id: 1, error: away })
    vi.advanceTimersByTime(499)
    expect(socket.count('join')).toBe(1)
    vi.advanceTimersByTime(1)
    expect(socket.count('join')).toBe(2)
    socket.says({ t: 'refused', id: socket.heard('join').id, error: away })
    vi.advanceTimersByTime(999)
    expect(socket.count('join')).toBe(2)
    vi.advanceTimersByTime(1)
    expect(socket.count('join')).toBe(3)
    expect(heard.gone).toEqual([])
  })

  test('too many joins wait as long as the server says', () => {
    hear()
    const socket = ScriptedSocket.last.welcome()
    const error = { code: 'too_many_requests', message: 'Slowly', details: { retry_after: 4 } }
    socket.says({ t: 'refused', id: 1, error })
    vi.advanceTimersByTime(3_999)
    expect(socket.count('join')).toBe(1)
    vi.advanceTimersByTime(1)
    expect(socket.count('join')).toBe(2)
  })

  test('an answer to an earlier request to join is passed over', () => {
    const { heard, handle } = hear()
    const socket = ScriptedSocket.last.welcome()
    handle.leave()
    const second = hear()
    socket.says({ t: 'joined', id: 1, to: 'live/A', channel: 7, at: { epoch: 3, seq: 1 }, snapshot: 'old' })
    joined(socket, { at: { epoch: 3, seq: 2 }, snapshot: 'new' })
    expect(heard.snapshots).toEqual([])
    expect(second.heard.snapshots).toEqual(['new'])
  })

  test('who joins a topic again leaves it first, and the earlier page hears nothing more', () => {
    const { heard, handle, socket } = inRoom()
    const second = hear()
    expect(socket.sent.slice(-2).map((message) => message.t)).toEqual(['leave', 'join'])
    joined(socket, { at: { epoch: 3, seq: 10 }, snapshot: 'again' })
    handle.leave()
    happens(socket, 10, ['a'])
    expect(heard.events).toEqual([])
    expect(second.heard.events).toEqual(['a'])
  })
})

describe('coming back', () => {
  test('a lost socket comes back after a pause and every topic goes on after its place', () => {
    let last = 'c-10'
    const { heard, socket } = inRoom({ since: () => last })
    hear('home')
    happens(socket, 10, ['a'])
    last = 'c-11'
    socket.breaks()
    expect(page.phases.at(-1)).toBe('lost')
    vi.advanceTimersByTime(499)
    expect(ScriptedSocket.opened).toHaveLength(1)
    vi.advanceTimersByTime(1)
    const next = ScriptedSocket.last.welcome()
    expect(next.sent).toMatchObject([
      { t: 'join', to: 'live/A', at: { epoch: 3, seq: 11 }, since: 'c-11' },
      { t: 'join', to: 'home' },
    ])
    next.says({ t: 'joined', id: (next.sent[0] as { id: number }).id, to: 'live/A', channel: 2, at: { epoch: 3, seq: 13 } })
    happens(next, 11, ['b', 'c'])
    expect(heard.events).toEqual(['a', 'b', 'c'])
    expect(page.phases).toEqual(['connecting', 'open', 'lost', 'open'])
  })

  test('pauses grow up to a quarter of a minute, and begin anew only after a steady while', () => {
    hear()
    const waits: number[] = []
    for (let tries = 0; tries < 8; tries += 1) {
      const opened = ScriptedSocket.opened.length
      ScriptedSocket.last.welcome().breaks()
      const from = Date.now()
      while (ScriptedSocket.opened.length === opened) vi.advanceTimersByTime(100)
      waits.push(Date.now() - from)
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 15000, 15000, 15000])
    ScriptedSocket.last.welcome()
    vi.advanceTimersByTime(5_000)
    ScriptedSocket.last.breaks()
    vi.advanceTimersByTime(500)
    expect(ScriptedSocket.opened).toHaveLength(10)
  })

  test('a page that is looked at again does not wait', () => {
    const { socket } = inRoom()
    socket.breaks()
    page.connection.wake()
    expect(ScriptedSocket.opened).toHaveLength(2)
    vi.advanceTimersByTime(600)
    expect(ScriptedSocket.opened).toHaveLength(2)
  })

  test('a socket that missed a beat while the machine slept is replaced on waking, a live one is not', () => {
    const { socket } = inRoom()
    vi.setSystemTime(Date.now() + 24_000)
    page.connection.wake()
    expect(ScriptedSocket.last).toBe(socket)
    vi.setSystemTime(Date.now() + 2_000)
    page.connection.wake()
    expect(ScriptedSocket.last).not.toBe(socket)
  })

  test('a server that is silent for two and a half beats is lost', () => {
    const { socket } = inRoom()
    vi.advanceTimersByTime(30_000)
    socket.says({ t: 'beat', now: Date.now() })
    vi.advanceTimersByTime(49_999)
    expect(page.phases.at(-1)).toBe('open')
    vi.advanceTimersByTime(1)
    expect(page.phases.at(-1)).toBe('lost')
    expect(socket.readyState).toBe(3)
  })

  test('what an abandoned socket still says is not heard', () => {
    const { heard, socket } = inRoom()
    vi.advanceTimersByTime(50_000)
    happens(socket, 10, ['late'])
    socket.breaks()
    expect(heard.events).toEqual([])
    vi.advanceTimersByTime(500)
    expect(ScriptedSocket.opened).toHaveLength(2)
  })

  test('a socket that does not open within ten seconds is tried again', () => {
    hear()
    vi.advanceTimersByTime(10_500)
    expect(ScriptedSocket.opened).toHaveLength(2)
  })

  test('a server that stops says when to come back', () => {
    const { socket } = inRoom()
    socket.says({ t: 'come_back', after: 730 })
    socket.breaks()
    vi.advanceTimersByTime(729)
    expect(ScriptedSocket.opened).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect(ScriptedSocket.opened).toHaveLength(2)
  })

  test('a topic without a room is fetched anew after coming back, and when events were left out', () => {
    const { heard } = hear('home')
    joined(ScriptedSocket.last.welcome())
    expect(heard.missed).toBe(0)
    ScriptedSocket.last.breaks()
    vi.advanceTimersByTime(500)
    joined(ScriptedSocket.last.welcome())
    expect(heard.missed).toBe(1)
    ScriptedSocket.last.says({ t: 'missed', to: 'home' })
    expect(heard.missed).toBe(2)
  })

  test('when somebody signs in, everything is heard afresh on a new socket', () => {
    const { socket } = inRoom()
    page.connection.renew()
    expect(ScriptedSocket.last).not.toBe(socket)
    expect(ScriptedSocket.last.welcome().heard('join')).not.toHaveProperty('at')
  })

  test('the socket rests after the last topic was left, and a topic wakes it', () => {
    const { handle, socket } = inRoom()
    handle.leave()
    expect(socket.heard('leave')).toEqual({ t: 'leave', to: 'live/A' })
    vi.advanceTimersByTime(10_000)
    expect(socket.readyState).toBe(3)
    expect(page.phases.at(-1)).toBe('idle')
    hear()
    expect(ScriptedSocket.opened).toHaveLength(2)
  })

  test('a room that moves to another process is joined again, and one that ended is not', () => {
    const { heard, socket } = inRoom()
    socket.says({ t: 'gone', to: 'live/A', error: { code: 'unavailable', message: '', details: {} } })
    expect(heard.ready.at(-1)).toBe(false)
    vi.advanceTimersByTime(500)
    joined(socket, { at: { epoch: 4, seq: 0 }, snapshot: 'moved' })
    expect(heard.ready.at(-1)).toBe(true)
    socket.says({ t: 'gone', to: 'live/A', error: { code: 'room_closed', message: '', details: {} } })
    expect(heard.gone).toEqual(['room_closed'])
  })
})

describe('commands', () => {
  test('a command is settled by its own answer', async () => {
    const { handle, socket } = inRoom()
    const first = handle.do({ k: 'comment', content: 'a' })
    const second = handle.do({ k: 'comment', content: 'b' })
    const [a, b] = socket.sent.slice(-2) as { id: number }[]
    socket.says({ t: 'done', id: b?.id ?? 0, result: 'B' })
    socket.says({ t: 'done', id: a?.id ?? 0 })
    expect(await second).toBe('B')
    expect(await first).toBeUndefined()
  })

  test('a refusal rejects with the code of the server', async () => {
    const { handle, socket } = inRoom()
    const asked = handle.do({ k: 'comment' })
    const error = { code: 'room_closed', message: 'Closed', details: { since: 4 } }
    socket.says({ t: 'refused', id: socket.heard('do').id, error })
    await expect(asked).rejects.toMatchObject({ code: 'room_closed', message: 'Closed', details: { since: 4 } })
  })

  test('a command whose answer is lost is unsettled, and is not sent again', async () => {
    const { handle, socket } = inRoom()
    const asked = handle.do({ k: 'comment' })
    socket.breaks()
    await expect(asked).rejects.toMatchObject({ code: 'unsettled' })
    vi.advanceTimersByTime(500)
    const next = ScriptedSocket.last.welcome()
    joined(next, { at: { epoch: 3, seq: 10 } })
    expect(next.count('do')).toBe(0)
  })

  test('a command that is not answered in time is unsettled, and its late answer is passed over', async () => {
    const { handle, socket } = inRoom()
    const asked = expect(handle.do({ k: 'comment' })).rejects.toMatchObject({ code: 'unsettled' })
    vi.advanceTimersByTime(20_000)
    await asked
    socket.says({ t: 'done', id: socket.heard('do').id, result: 'late' })
  })

  test('without a joined topic nothing is sent, and whoever asks knows it', async () => {
    const { handle } = hear()
    const socket = ScriptedSocket.last.welcome()
    await expect(handle.do({ k: 'comment' })).rejects.toMatchObject({ code: 'offline' })
    expect(handle.pass({ k: 'clap' })).toBe(false)
    expect(handle.binary(new Uint8Array([1]))).toBe(false)
    expect(socket.sent).toHaveLength(1)
  })

  test('bytes go up and come down under the channel of their topic', () => {
    const heard: number[][] = []
    const { handle, socket } = inRoom({ onBinary: (payload) => heard.push([...payload]) })
    expect(handle.binary(new Uint8Array([9, 8]))).toBe(true)
    expect(socket.sentBinary).toEqual([new Uint8Array([0, 7, 9, 8])])
    socket.saysBinary(0, 7, 1, 2)
    socket.saysBinary(0, 8, 3)
    expect(heard).toEqual([[1, 2]])
  })
})

describe('the time of the server', () => {
  test('the nearest of the last beats counts, and a clock that was set is followed', () => {
    const { socket } = inRoom()
    socket.says({ t: 'beat', now: Date.now() + 400 })
    socket.says({ t: 'beat', now: Date.now() + 100 })
    expect(page.connection.time.offset).toBe(400)
    vi.setSystemTime(Date.now() + 3_600_000)
    socket.says({ t: 'beat', now: Date.now() - 3_600_000 })
    expect(page.connection.time.offset).toBe(-3_600_000)
  })
})
