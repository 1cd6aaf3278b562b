// The workload of `bench peers` in ns-3: 16 hosts on two switches, every host to the 8 across.
//
// Senders are paced to 95 % of the link between the switches, since ns-3's queues drop what ours
// hold back: a lost packet would make its run shorter. Arguments: packets per flow.
// Prints the packet-hops and the CPU seconds of the run alone.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <ctime>
#include <iostream>
#include <vector>

using namespace ns3;

static uint64_t hops = 0;

static void
Arrived(Ptr<const Packet>)
{
    ++hops;
}

int
main(int argc, char** argv)
{
    const uint32_t packets = argc > 1 ? std::stoul(argv[1]) : 1000;
    const uint32_t size = 4096;
    const double rate = 100e9;

    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
    link.SetDeviceAttribute("Mtu", UintegerValue(9000));
    link.SetChannelAttribute("Delay", StringValue("1us"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("16p"));

    NodeContainer hosts(16);
    NodeContainer switches(2);
    InternetStackHelper internet;
    internet.Install(hosts);
    internet.Install(switches);

    Ipv4AddressHelper address("10.0.0.0", "255.255.255.252");
    std::vector<Ipv4Address> of(16);
    NetDeviceContainer devices;
    for (uint32_t h = 0; h < 16; ++h)
    {
        NetDeviceContainer pair = link.Install(hosts.Get(h), switches.Get(h / 8));
        of[h] = address.Assign(pair).GetAddress(0);
        address.NewNetwork();
        devices.Add(pair);
    }
    NetDeviceContainer middle = link.Install(switches.Get(0), switches.Get(1));
    address.Assign(middle);
    devices.Add(middle);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    for (uint32_t d = 0; d < devices.GetN(); ++d)
    {
        devices.Get(d)->TraceConnectWithoutContext("MacRx", MakeCallback(&Arrived));
    }

    const double frame = 8.0 * (size + 30);
    const Time interval = Seconds(64 * frame / (0.95 * rate));
    for (uint32_t h = 0; h < 16; ++h)
    {
        PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
        sink.Install(hosts.Get(h)).Start(Seconds(0));
        for (uint32_t k = 0; k < 8; ++k)
        {
            UdpClientHelper client(of[8 * (1 - h / 8) + (h + k) % 8], 9);
            client.SetAttribute("MaxPackets", UintegerValue(packets));
            client.SetAttribute("Interval", TimeValue(interval));
            client.SetAttribute("PacketSize", UintegerValue(size));
            ApplicationContainer apps = client.Install(hosts.Get(h));
            apps.Start(Seconds(1e-6) + interval * ((h % 8) * 8 + k) / 64);
        }
    }

    const std::clock_t begin = std::clock();
    Simulator::Run();
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    Simulator::Destroy();
    std::cout << hops << " " << seconds << std::endl;
    return 0;
}
