import { describe, expect, test, vi } from 'vitest'
import { FakeSocket } from './fakeSocket'
import { deliverEvents, subscribe, joinRoom, confirmJoin, page, useFakeServer } from './fixtures'

useFakeServer()

describe('joining', () => {
  test('the first topic opens the socket, and joins when the server says welcome', () => {
    const { received } = subscribe()
    expect(FakeSocket.last.sent).toEqual([])
    const socket = FakeSocket.last.welcome()
    expect(socket.sent).toEqual([{ t: 'join', id: 1, to: 'live/A' }])
    confirmJoin(socket, { at: { epoch: 3, seq: 10 }, snapshot: { name: 'room' }, here: 4 })
    expect(received).toMatchObject({ snapshots: [{ name: 'room' }], here: [4], ready: [true] })
    expect(page.phases).toEqual(['connecting', 'open'])
  })

  test('all topics of a page share one socket', () => {
    subscribe('live/A')
    subscribe('home')
    const socket = FakeSocket.last.welcome()
    subscribe('live/B')
    expect(FakeSocket.opened).toHaveLength(1)
    expect(socket.sent.map((message) => 'to' in message && message.to)).toEqual(['live/A', 'home', 'live/B'])
  })

  test('a refused join ends the subscription with the reason', () => {
    const { received } = subscribe()
    const socket = FakeSocket.last.welcome()
    socket.deliver({ t: 'refused', id: 1, error: { code: 'not_found', message: 'No such room', details: {} } })
    expect(received.ended).toEqual(['not_found'])
    vi.advanceTimersByTime(60_000)
    expect(socket.countSent('join')).toBe(1)
  })

  test('a room that cannot be served for now is joined again after a pause that grows', () => {
    const { received } = subscribe()
    const socket = FakeSocket.last.welcome()
    const away = { code: 'unavailable', message: 'Not now', details: {} }
    socket.deliver({ t: 'refused', id: 1, error: away })
    vi.advanceTimersByTime(499)
    expect(socket.countSent('join')).toBe(1)
    vi.advanceTimersByTime(1)
    expect(socket.countSent('join')).toBe(2)
    socket.deliver({ t: 'refused', id: socket.lastSent('join').id, error: away })
    vi.advanceTimersByTime(999)
    expect(socket.countSent('join')).toBe(2)
    vi.advanceTimersByTime(1)
    expect(socket.countSent('join')).toBe(3)
    expect(received.ended).toEqual([])
  })

  test('too many joins wait as long as the server says', () => {
    subscribe()
    const socket = FakeSocket.last.welcome()
    const error = { code: 'too_many_requests', message: 'Slowly', details: { retry_after: 4 } }
    socket.deliver({ t: 'refused', id: 1, error })
    vi.advanceTimersByTime(3_999)
    expect(socket.countSent('join')).toBe(1)
    vi.advanceTimersByTime(1)
    expect(socket.countSent('join')).toBe(2)
  })

  test('the reply to an earlier join request is ignored', () => {
    const { received, subscription } = subscribe()
    const socket = FakeSocket.last.welcome()
    subscription.leave()
    const second = subscribe()
    socket.deliver({ t: 'joined', id: 1, to: 'live/A', channel: 7, at: { epoch: 3, seq: 1 }, snapshot: 'old' })
    confirmJoin(socket, { at: { epoch: 3, seq: 2 }, snapshot: 'new' })
    expect(received.snapshots).toEqual([])
    expect(second.received.snapshots).toEqual(['new'])
  })

  test('subscribing to a topic again leaves it first, and the earlier subscription receives nothing more', () => {
    const { received, subscription, socket } = joinRoom()
    const second = subscribe()
    expect(socket.sent.slice(-2).map((message) => message.t)).toEqual(['leave', 'join'])
    confirmJoin(socket, { at: { epoch: 3, seq: 10 }, snapshot: 'again' })
    subscription.leave()
    deliverEvents(socket, 10, ['a'])
    expect(received.events).toEqual([])
    expect(second.received.events).toEqual(['a'])
  })
})

describe('reconnecting', () => {
  test('a lost socket reconnects after a delay, and every topic resumes after its last event', () => {
    let last = 'c-10'
    const { received, socket } = joinRoom({ since: () => last })
    subscribe('home')
    deliverEvents(socket, 10, ['a'])
    last = 'c-11'
    socket.disconnect()
    expect(page.phases.at(-1)).toBe('lost')
    vi.advanceTimersByTime(499)
    expect(FakeSocket.opened).toHaveLength(1)
    vi.advanceTimersByTime(1)
    const next = FakeSocket.last.welcome()
    expect(next.sent).toMatchObject([
      { t: 'join', to: 'live/A', at: { epoch: 3, seq: 11 }, since: 'c-11' },
      { t: 'join', to: 'home' },
    ])
    next.deliver({ t: 'joined', id: (next.sent[0] as { id: number }).id, to: 'live/A', channel: 2, at: { epoch: 3, seq: 13 } })
    deliverEvents(next, 11, ['b', 'c'])
    expect(received.events).toEqual(['a', 'b', 'c'])
    expect(page.phases).toEqual(['connecting', 'open', 'lost', 'open'])
  })

  test('the delay grows to 15 seconds and is reset only after a stable connection', () => {
    subscribe()
    const waits: number[] = []
    for (let tries = 0; tries < 8; tries += 1) {
      const opened = FakeSocket.opened.length
      FakeSocket.last.welcome().disconnect()
      const from = Date.now()
      while (FakeSocket.opened.length === opened) vi.advanceTimersByTime(100)
      waits.push(Date.now() - from)
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 15000, 15000, 15000])
    FakeSocket.last.welcome()
    vi.advanceTimersByTime(5_000)
    FakeSocket.last.disconnect()
    vi.advanceTimersByTime(500)
    expect(FakeSocket.opened).toHaveLength(10)
  })

  test('a page that becomes visible reconnects at once', () => {
    const { socket } = joinRoom()
    socket.disconnect()
    page.connection.wake()
    expect(FakeSocket.opened).toHaveLength(2)
    vi.advanceTimersByTime(600)
    expect(FakeSocket.opened).toHaveLength(2)
  })

  test('a socket that missed a heartbeat during sleep is replaced on waking, a live one is not', () => {
    const { socket } = joinRoom()
    vi.setSystemTime(Date.now() + 4_900)
    page.connection.wake()
    expect(FakeSocket.last).toBe(socket)
    vi.setSystemTime(Date.now() + 200)
    page.connection.wake()
    expect(FakeSocket.last).not.toBe(socket)
  })

  test('a connection without a heartbeat for two intervals is lost', () => {
    const { socket } = joinRoom()
    vi.advanceTimersByTime(6_000)
    socket.deliver({ t: 'beat', now: Date.now() })
    vi.advanceTimersByTime(7_999)
    expect(page.phases.at(-1)).toBe('open')
    vi.advanceTimersByTime(1)
    expect(page.phases.at(-1)).toBe('lost')
    expect(socket.readyState).toBe(3)
  })

  test('a machine that goes offline has lost the connection at once, and is back as soon as it is online', () => {
    const { socket } = joinRoom()
    page.connection.offline()
    expect(page.phases.at(-1)).toBe('lost')
    expect(socket.readyState).toBe(3)
    page.connection.wake()
    FakeSocket.last.welcome()
    expect(page.phases.at(-1)).toBe('open')
  })

  test('messages of an abandoned socket are ignored', () => {
    const { received, socket } = joinRoom()
    vi.advanceTimersByTime(8_000)
    deliverEvents(socket, 10, ['late'])
    socket.disconnect()
    expect(received.events).toEqual([])
    vi.advanceTimersByTime(500)
    expect(FakeSocket.opened).toHaveLength(2)
  })

  test('a socket that does not open within ten seconds is tried again', () => {
    subscribe()
    vi.advanceTimersByTime(10_500)
    expect(FakeSocket.opened).toHaveLength(2)
  })

  test('a stopping server says when to reconnect', () => {
    const { socket } = joinRoom()
    socket.deliver({ t: 'come_back', after: 730 })
    socket.disconnect()
    vi.advanceTimersByTime(729)
    expect(FakeSocket.opened).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect(FakeSocket.opened).toHaveLength(2)
  })

  test('a topic without a room is reported as missed after reconnecting and when events were dropped', () => {
    const { received } = subscribe('home')
    confirmJoin(FakeSocket.last.welcome())
    expect(received.missed).toBe(0)
    FakeSocket.last.disconnect()
    vi.advanceTimersByTime(500)
    confirmJoin(FakeSocket.last.welcome())
    expect(received.missed).toBe(1)
    FakeSocket.last.deliver({ t: 'missed', to: 'home' })
    expect(received.missed).toBe(2)
  })

  test('an explicit reconnect joins every topic from the start on a new socket', () => {
    const { socket } = joinRoom()
    page.connection.reconnect()
    expect(FakeSocket.last).not.toBe(socket)
    expect(FakeSocket.last.welcome().lastSent('join')).not.toHaveProperty('at')
  })

  test('the socket closes after the last topic was left, and a new topic opens it', () => {
    const { subscription, socket } = joinRoom()
    subscription.leave()
    expect(socket.lastSent('leave')).toEqual({ t: 'leave', to: 'live/A' })
    vi.advanceTimersByTime(10_000)
    expect(socket.readyState).toBe(3)
    expect(page.phases.at(-1)).toBe('idle')
    subscribe()
    expect(FakeSocket.opened).toHaveLength(2)
  })

  test('a room that moves to another process is joined again, and one that ended is not', () => {
    const { received, socket } = joinRoom()
    socket.deliver({ t: 'gone', to: 'live/A', error: { code: 'unavailable', message: '', details: {} } })
    expect(received.ready.at(-1)).toBe(false)
    vi.advanceTimersByTime(500)
    confirmJoin(socket, { at: { epoch: 4, seq: 0 }, snapshot: 'moved' })
    expect(received.ready.at(-1)).toBe(true)
    socket.deliver({ t: 'gone', to: 'live/A', error: { code: 'room_closed', message: '', details: {} } })
    expect(received.ended).toEqual(['room_closed'])
  })
})

describe('commands', () => {
  test('a command is settled by its own reply', async () => {
    const { subscription, socket } = joinRoom()
    const first = subscription.execute({ k: 'comment', content: 'a' })
    const second = subscription.execute({ k: 'comment', content: 'b' })
    const [a, b] = socket.sent.slice(-2) as { id: number }[]
    socket.deliver({ t: 'done', id: b?.id ?? 0, result: 'B' })
    socket.deliver({ t: 'done', id: a?.id ?? 0 })
    expect(await second).toBe('B')
    expect(await first).toBeUndefined()
  })

  test('a refused command rejects with the error of the server', async () => {
    const { subscription, socket } = joinRoom()
    const command = subscription.execute({ k: 'comment' })
    const error = { code: 'room_closed', message: 'Closed', details: { since: 4 } }
    socket.deliver({ t: 'refused', id: socket.lastSent('do').id, error })
    await expect(command).rejects.toMatchObject({ code: 'room_closed', message: 'Closed', details: { since: 4 } })
  })

  test('a command whose reply is lost is unsettled and not sent again', async () => {
    const { subscription, socket } = joinRoom()
    const command = subscription.execute({ k: 'comment' })
    socket.disconnect()
    await expect(command).rejects.toMatchObject({ code: 'unsettled' })
    vi.advanceTimersByTime(500)
    const next = FakeSocket.last.welcome()
    confirmJoin(next, { at: { epoch: 3, seq: 10 } })
    expect(next.countSent('do')).toBe(0)
  })

  test('a command without a reply in time is unsettled, and a late reply is ignored', async () => {
    const { subscription, socket } = joinRoom()
    const command = expect(subscription.execute({ k: 'comment' })).rejects.toMatchObject({ code: 'unsettled' })
    vi.advanceTimersByTime(20_000)
    await command
    socket.deliver({ t: 'done', id: socket.lastSent('do').id, result: 'late' })
  })

  test('nothing is sent before the topic is joined, and every attempt fails', async () => {
    const { subscription } = subscribe()
    const socket = FakeSocket.last.welcome()
    await expect(subscription.execute({ k: 'comment' })).rejects.toMatchObject({ code: 'offline' })
    expect(subscription.sendTransient({ k: 'clap' })).toBe(false)
    expect(subscription.sendBinary(new Uint8Array([1]))).toBe(false)
    expect(socket.sent).toHaveLength(1)
  })

  test('binary messages carry the channel of their topic in both directions', () => {
    const received: number[][] = []
    const { subscription, socket } = joinRoom({ onBinary: (payload) => received.push([...payload]) })
    expect(subscription.sendBinary(new Uint8Array([9, 8]))).toBe(true)
    expect(socket.sentBinary).toEqual([new Uint8Array([0, 7, 9, 8])])
    socket.deliverBinary(0, 7, 1, 2)
    socket.deliverBinary(0, 8, 3)
    expect(received).toEqual([[1, 2]])
  })
})

describe('the server clock', () => {
  test('the offset is that of the fastest recent heartbeat, and follows a clock that was set', () => {
    const { socket } = joinRoom()
    socket.deliver({ t: 'beat', now: Date.now() + 400 })
    socket.deliver({ t: 'beat', now: Date.now() + 100 })
    expect(page.connection.clock.offset).toBe(400)
    vi.setSystemTime(Date.now() + 3_600_000)
    socket.deliver({ t: 'beat', now: Date.now() - 3_600_000 })
    expect(page.connection.clock.offset).toBe(-3_600_000)
  })
})
