package keygroup

var goldenInt = [5]uint64{
	0xe2a8211111a52732,
	0xd2b91db558b26229,
	0x512215a87596da9b,
	0xa8827f83988411af,
	0xb1a5ef33def1d01e,
}

// By the length of the prefix of the text.
var goldenString = map[int]uint64{
	0:   0xe2a8211111a52732,
	1:   0x1a55bf2e48a57aa7,
	2:   0x4bd8c24c7d734bc1,
	3:   0x5065f67b2fe01196,
	4:   0x33b8e8f9e4d9c922,
	7:   0x826a47c0440320bb,
	8:   0xeb75b71833678e94,
	12:  0x239548b0e5077c04,
	15:  0x12a21c81f28e84de,
	16:  0x39b99a0a0b2fc160,
	17:  0x9b8e0fc97987a7bf,
	24:  0x949a3b6f5beed16a,
	31:  0xfb402cd5111a7d05,
	32:  0x9eff31c8f76d6034,
	33:  0xe06655719119100e,
	48:  0xc2ec8125e39c10b9,
	49:  0x5eabf3d8b11f7935,
	64:  0xfe67253b2226b1e0,
	65:  0x0dfca06e97a7de80,
	80:  0x98e6509ede0108ff,
	81:  0x000dde2479a82ffb,
	96:  0xf3b2434814329132,
	97:  0xb4692d4b0d8aeebb,
	128: 0xaec8020cb0a54bd3,
	129: 0x808cbd7087529ffa,
	200: 0x67a575dc001b5b5d,
	225: 0x323608aebbd10a64,
}
